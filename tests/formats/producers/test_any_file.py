"""Whatever a tool's file holds, it is read or refused with an InputError, and what is read can be shown.

Files of every format are spoilt in one or two places, and bytes, JSON and tables are made up of the words that formats
know. The examples are the same every time: a failure can be looked at again.
"""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specdash.formats import producers
from tests.formats.files import stored
from tests.formats.producers.examples import EXAMPLES, NAMES
from tests.formats.test_any_content import shown

SPOILT, MADE_UP = (
    settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    for count in (12, 60)
)
KEYS = [producer.key for producer in producers.PRODUCERS]
TOKEN = re.compile(r'-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|\w+|[\[\]{}:,]')
ODD = (
    *("0", "-1", "1", "2.5", "65", "1e999", "1e18", "9007199254740993", "9" * 400, "9" * 5000, "0.1", "1e-400", "٣"),
    *("NaN", "null", "true", "[]", "{}", "[0]", "[[1]]", '{"0":1}', '"x"', '""', '"7"', '"\\ud800"'),
    *("x", "", ",", "\n", "\x00", "%", ".", "1.2.3"),
)
SAID = (
    {},
    {"config": {"k": 3}},
    {"bonus": "in"},
    {"bonus": "out", "config": {"k": 64}},
    {"bonus": "in", "config": {"k": 4}},
)


def test_every_format_has_an_example(tmp_path):
    assert sorted(EXAMPLES) == sorted(KEYS)
    for key, content in EXAMPLES.items():
        found = producers.recognise(stored(tmp_path, NAMES.get(key, "any.name"), content))
        assert found is not None and found.key == key


@st.composite
def spoilt(draw, content):
    """Bytes of a file, in one or two places of which stands something else."""
    for _ in range(draw(st.integers(1, 2))):
        how = draw(st.sampled_from(["token", "token", "token", "token", "line", "cut", "bytes"]))
        if how == "token":
            places = [match.span() for match in TOKEN.finditer(content)] or [(0, 0)]
            start, end = places[draw(st.integers(0, len(places) - 1))]
            content = content[:start] + draw(st.sampled_from(ODD)) + content[end:]
        elif how == "line":
            lines = content.splitlines(keepends=True) or [""]
            place = draw(st.integers(0, len(lines) - 1))
            lines[place : place + 1] = draw(st.sampled_from([[], [lines[place]] * 2, ["\n", lines[place]]]))
            content = "".join(lines)
        elif how == "cut":
            content = content[: draw(st.integers(0, len(content)))]
        else:
            start = draw(st.integers(0, len(content)))
            content = content[:start] + draw(st.binary(max_size=4)).decode("latin-1") + content[start + 1 :]
    return content.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("key", KEYS)
def test_a_spoilt_file(tmp_path, key):
    @SPOILT
    @given(spoilt(EXAMPLES[key]), st.sampled_from(SAID))
    def read(content, said):
        shown(tmp_path, {NAMES.get(key, "any.name"): content}, said)

    read()


WORDS = sorted({word for content in EXAMPLES.values() for word in re.findall(r'"(\w+)":', content)})
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 70),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["7", "\ud800", 10**18, 10**400, 2.5]),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(WORDS), st.sampled_from(["0", "1", "2"])), inner, max_size=5),
    ),
    max_leaves=20,
)
HEADS = [
    content.splitlines()[0]
    for key, content in EXAMPLES.items()
    if key in ("aiperf-report", "candidate-steps", "jointadaspec-prompts", "latency-csv", "speculators-acceptance")
]


@MADE_UP
@given(st.lists(ANYTHING, min_size=1, max_size=3), st.sampled_from(SAID), st.sampled_from(["a.json", "a.jsonl"]))
def test_any_json(tmp_path, values, said, name):
    shown(tmp_path, {name: "\n".join(map(json.dumps, values)).encode()}, said)


@MADE_UP
@given(
    st.sampled_from(HEADS),
    st.lists(st.lists(st.sampled_from((*ODD, "gsm8k", "3", "4")), max_size=8), max_size=4),
    st.sampled_from(SAID),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_table(tmp_path, head, rows, said, end):
    shown(tmp_path, {"a.csv": end.join([head, *map(",".join, rows)]).encode("utf-8", "surrogatepass")}, said)


@MADE_UP
@given(st.binary(max_size=60), st.sampled_from(list(EXAMPLES.values())), st.sampled_from(["a.log", "a.json", "a.csv"]))
def test_any_bytes(tmp_path, content, around, name):
    half = around[: len(around) // 2].encode()
    shown(tmp_path, {name: content})
    shown(tmp_path, {name: half + content})
