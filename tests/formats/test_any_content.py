"""Whatever a file holds, it is read or refused with an InputError, and what is read can be shown."""

import json
import shutil

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specdash import ingest, report
from specdash.formats import recognise, samples, steplog
from specdash.formats.synonyms import CONFIG, COUNTER, SAMPLE
from specdash.schema import InputError
from tests.formats.files import stored

relaxed = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
LOG = b"request_id,drafted,accepted\n0,7,3\n0,7,2\n1,7,7\n"


@st.composite
def mangled(draw, texts):
    """Bytes of a text, cut, overwritten and extended somewhere."""
    content = draw(texts).encode("utf-8", "surrogatepass")
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 9)))
        content = content[:start] + draw(st.binary(max_size=5)) + content[end:]
    return draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])) + content


# ---- step logs: what a cell is spelled like, and what it means (None: nothing)

COUNTS = {str(n): n for n in (0, 1, 3, 7, 63, 64)} | {
    **{"7.0": 7, "7.": 7, "+7": 7, " 7": 7, "7 ": 7, '"7"': 7, ' "7"': 7, "007": 7, "7.000": 7, "\t7": 7, "\xa07": 7},
    **dict.fromkeys(["65", "256", "999999999999", "9" * 400, "-1", "2.6", "x", "nan", "inf", "1e1", "1_0", "", " "]),
    **dict.fromkeys(["true", "0x7", ".5", "7,0", '"7,0"', "٣", "7;3", "7 0", "--7", "NULL", "7\x00"]),
}
IDS = {
    **{id_: id_ for id_ in ("0", "1", "2", "17", "01", "007", "-5", "1.0", "req-1", "a b", "#c", "é", "😀", "NULL")},
    **{"9223372036854775807": "9223372036854775807", "9223372036854775808": "9223372036854775808", "1e5": "1e5"},
    **{'"x,y"': "x,y", '"say ""hi"""': 'say "hi"', '"two\nlines"': "two\nlines", " 3 ": "3", "\t4": "4", '"5"': "5"},
    **dict.fromkeys(["", "  ", '""', '" "']),
}
GOOD = st.sampled_from([k for k, v in COUNTS.items() if v is not None])
GOOD_ID = st.sampled_from([k for k, v in IDS.items() if v is not None])


@st.composite
def spelled_logs(draw):
    """A log and the steps it spells; None where it has to be refused."""
    careless = draw(st.booleans())
    header = draw(st.booleans())
    lines, steps = (["request_id,drafted,accepted"], []) if header else ([], [])
    for _ in range(draw(st.integers(1, 6))):
        cells = [draw(GOOD_ID), draw(GOOD), draw(GOOD)]
        if careless and draw(st.integers(0, 3)) == 0:
            place = draw(st.integers(0, 2))
            cells[place] = draw(st.sampled_from(list(COUNTS if place else IDS)))
        elif COUNTS[cells[1]] < COUNTS[cells[2]]:
            cells[1:] = cells[:0:-1]
        lines.append(",".join(cells))
        id_, k, a = IDS[cells[0]], COUNTS[cells[1]], COUNTS[cells[2]]
        fits = id_ is not None and k is not None and a is not None and a <= k
        steps = None if steps is None or not fits else [*steps, (id_, k, a)]
        lines += draw(st.sampled_from([[], [], [], [""], ["  "]]))
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]]))
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines)
    text = text.rstrip("\r\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "\ufeff"])) + text, steps, header


@relaxed
@given(spelled_logs())
def test_a_log_is_read_as_spelled_or_refused(tmp_path, log):
    text, steps, header = log
    first = next(line for line in text.lstrip("\ufeff").splitlines() if line.strip())
    file = stored(tmp_path, "spec_log.csv", text)
    if steps is None:
        with pytest.raises(InputError) as error:
            steplog.read([file], tmp_path)
        # A first row without a number is taken for a header, the one thing that may have no line 2.
        assert error.value.line or "empty" in error.value.problem, (header, first)
        return
    read = steplog.read([file], tmp_path)
    rows = pl.read_parquet(read.steps).rows()
    assert [(str(id_), k, a) for id_, k, a in rows] == steps
    assert set(map(str, read.requests)) == {id_ for id_, _, _ in steps}
    assert sum(read.counts["steps"]) == len(steps)


@relaxed
@given(st.one_of(mangled(spelled_logs().map(lambda log: log[0])), st.binary(max_size=200)))
def test_any_log(tmp_path, content):
    file = stored(tmp_path, "spec_log.csv", content)
    try:
        read = steplog.read([file], tmp_path)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert read.counts["steps"].sum() == pl.read_parquet(read.steps).height > 0
    assert (read.counts["accepted"] <= read.counts["drafted"]).all()


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "log.parquet"
    pl.DataFrame({"request_id": ["a", "b"] * 50, "drafted": [7] * 100, "accepted": [3, 5] * 50}).write_parquet(path)
    return path.read_bytes()


@relaxed
@given(st.integers(0, 2000), st.binary(max_size=8), st.integers(0, 8))
def test_any_parquet(tmp_path, parquet, start, inserted, dropped):
    start %= len(parquet)
    content = parquet[:start] + inserted + parquet[start + dropped :]
    file = stored(tmp_path, "spec_log.parquet", content)
    try:
        read = steplog.read([file], tmp_path)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert (read.counts["accepted"] <= read.counts["drafted"]).all()


# ---- JSON

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 70),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["7", "gsm8k", "\ud800", 10**18, 10**30, 10**400, -1, 2.5, 3.0]),
)


def names_of(table):
    return st.one_of(st.sampled_from([name for names in table.values() for name in names]), st.text(max_size=4))


def objects(table, values):
    return st.dictionaries(names_of(table), values, max_size=9)


def a_line(value):
    return json.dumps(value)  # NaN and Infinity as Python writes them


SAMPLE_LIKE = st.fixed_dictionaries(
    {"dataset": st.sampled_from(["gsm8k", "mbpp"]), "prompt_id": st.one_of(st.integers(0, 3), st.text(max_size=3))},
    optional={
        "copy": st.one_of(st.integers(0, 3), st.none()),
        "num_drafts": st.one_of(st.integers(0, 5), st.none()),
        "draft_tokens": st.integers(0, 35),
        "accepted_tokens": st.one_of(st.integers(0, 35), st.none()),
        "accept_len": st.one_of(st.floats(1, 8), st.none(), st.just(10**300)),
        "output_tokens": st.one_of(st.integers(0, 99), st.none(), st.just(float("nan"))),
        "request_id": st.one_of(st.integers(0, 9), st.text(max_size=2), st.none()),
    },
)
SAMPLES = st.lists(st.one_of(SAMPLE_LIKE, SAMPLE_LIKE, objects(SAMPLE, SCALARS), SCALARS).map(a_line), max_size=5).map(
    "\n".join
)


@relaxed
@given(st.one_of(SAMPLES.map(str.encode), mangled(SAMPLES), st.binary(max_size=200)), st.sampled_from([None, "d"]))
def test_any_samples(tmp_path, content, dataset):
    file = stored(tmp_path, "samples.jsonl", content)
    try:
        frame = samples.read(file, dataset)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert frame.schema == samples.SAMPLES and frame.height
    assert not frame["dataset"].null_count() and not frame["prompt"].null_count() and not frame["copy"].null_count()
    for column in ("copy", "drafts", "drafted", "accepted", "output_tokens"):
        assert not (frame[column] < 0).any()


def shown(folder, files, said=None):
    """Read an evaluation of some files, show it in every form, and return it; None when it is refused."""
    evaluation = folder / "evaluation"
    evaluation.mkdir(exist_ok=True)
    for old in evaluation.iterdir():
        old.unlink()
    for name, content in files.items():
        (evaluation / name).write_bytes(content)
    workspace = folder / "workspace"
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir()
    try:
        read = ingest.read(evaluation, workspace, options=ingest.Options.of(said or {}))
    except InputError as error:
        assert "\n" not in str(error)
        return None
    document = report.document(read, lambda _: None)
    json.dumps(document, allow_nan=False)
    report.write_files(read, lambda _: None, read.runs, folder / "csv")
    return document


RECORD = st.fixed_dictionaries(
    {
        "drafts": st.one_of(st.just(10), st.integers(0, 20)),
        "per_pos": st.lists(st.integers(0, 10), min_size=1, max_size=4).map(lambda n: sorted(n, reverse=True)),
    },
    optional={
        "dataset": st.one_of(st.sampled_from(["gsm8k", "a\nb", "\x1b[1m"]), SCALARS),
        "accepted": st.one_of(st.none(), SCALARS),
        "draft_tokens": st.one_of(st.integers(10, 90), SCALARS),
        "acceptance_length": SCALARS,
        "verify_rate": SCALARS,
        "accept_rates_by_position": st.one_of(st.lists(SCALARS, max_size=4), SCALARS),
    },
)
RECORDS = st.one_of(RECORD, RECORD, objects(COUNTER, st.one_of(SCALARS, st.lists(SCALARS, max_size=3))))
COUNTERS = st.one_of(
    RECORDS,
    st.lists(RECORDS, max_size=3),
    st.dictionaries(st.sampled_from(["gsm8k", "mbpp", "", "\ud800"]), RECORDS, max_size=3),
    st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), objects(COUNTER, inner)), max_leaves=8),
).map(a_line)


@relaxed
@given(st.one_of(COUNTERS.map(str.encode), mangled(COUNTERS), st.binary(max_size=100)))
def test_any_counters(tmp_path, content):
    document = shown(tmp_path, {"counters.json": content})
    for row in document["runs"][0]["datasets"] if document else []:
        assert row["tau"] is None or 1 <= row["tau"] <= 65
        assert all(0 <= p <= 1 for p in row["p"] or [] if p is not None)


SETTINGS = st.one_of(
    objects(CONFIG, st.one_of(SCALARS, objects(CONFIG, SCALARS), st.lists(SCALARS, max_size=2))), SCALARS
).map(a_line)


@relaxed
@given(st.one_of(SETTINGS.map(str.encode), mangled(SETTINGS), st.binary(max_size=100)))
def test_any_config(tmp_path, content):
    counters = b'{"dataset": "gsm8k", "drafts": 10, "accepted": 5, "per_pos": [3, 2]}'
    document = shown(tmp_path, {"counters.json": counters, "config.json": content})
    if document:
        settings_ = document["runs"][0]["config"]
        assert all(value is None or isinstance(value, str | int | float) for value in settings_.values())
        assert settings_.get("k") in (None, *range(65))


CELLS = st.sampled_from(
    [
        *"dataset accept_len alen_mean #propose verify_rate accept_rate@0 accept_rate@1 ratio_max gsm8k mbpp".split(),
        *("4.97", "-", "", "6.98+1", "0.62", "1e5", "9" * 400, "nan", "-1", "x", "é", "٣", "\x1b[1m"),
    ]
)
ROW = st.lists(CELLS, min_size=1, max_size=5).map(lambda cells: "| " + " | ".join(cells) + " |")
GOOD_ROWS = st.sampled_from(
    ["| dataset | accept_len | accept_rate@0 |", "| gsm8k | 4.97 | 0.91 |", "| mbpp | 4.88 | - |", "+---+---+---+"]
)
TABLES = st.lists(st.one_of(GOOD_ROWS, GOOD_ROWS, ROW, st.sampled_from(["", "title", "│ x │", "|"])), max_size=8).map(
    "\n".join
)


@relaxed
@given(st.one_of(mangled(TABLES), TABLES.map(str.encode), st.binary(max_size=100)))
def test_any_printed_table(tmp_path, content):
    document = shown(tmp_path, {"results_table.txt": content})
    for row in document["runs"][0]["datasets"] if document else []:
        assert row["dataset"] and (row["tau"] is None or 0 <= row["tau"] < 1e9)


@settings(relaxed, max_examples=60)
@given(mangled(SAMPLES), st.one_of(st.just(LOG), mangled(spelled_logs().map(lambda log: log[0]))))
def test_any_run(tmp_path, samples_, log):
    document = shown(tmp_path, {"samples.jsonl": samples_, "spec_log.csv": log})
    for row in document["runs"][0]["datasets"] if document else []:
        assert row["responses"] >= 1


# ---- tables of any columns

TABLE_CELLS = st.one_of(
    st.sampled_from("0 1 2 3 7 8 65 -1 2.5 7.0 1e3 nan x gsm8k [1,2] [] [1,null] NULL true".split()),
    st.sampled_from(["", " ", "a b", "é", "\x00", "9" * 400]),
)
TABLE_NAMES = st.sampled_from(
    "id request_id dataset prompt_id copy step k drafted accepted accept_lengths num_drafts tau new_tokens n x".split()
)


@st.composite
def tables(draw):
    """The text of a table, as CSV of some separator or as JSON lines, mostly of columns that are known."""
    names = draw(st.lists(TABLE_NAMES, min_size=1, max_size=5))
    rows = draw(st.lists(st.lists(TABLE_CELLS, min_size=len(names), max_size=len(names)), max_size=5))
    if draw(st.booleans()):
        cells = st.one_of(SCALARS, st.lists(SCALARS, max_size=3))
        found = [
            {name: draw(st.one_of(st.just(cell), cells)) for name, cell in zip(names, row, strict=True)} for row in rows
        ]
        return "x.jsonl", "".join(json.dumps(row) + "\n" for row in found)
    separator = draw(st.sampled_from(",;\t"))
    return "x.csv", "".join(separator.join(row) + "\n" for row in [names, *rows])


SAID = st.fixed_dictionaries(
    {},
    optional={
        "bonus": st.sampled_from(["in", "out"]),
        "config": st.fixed_dictionaries({"k": st.integers(0, 8)}),
        "map": st.dictionaries(st.sampled_from("accepted drafted steps request step accept_len".split()), TABLE_NAMES),
    },
)


@relaxed
@given(tables(), SAID, st.booleans(), st.binary(max_size=3))
def test_any_table(tmp_path, table, said, mangle, noise):
    name, text = table
    content = text.encode("utf-8", "surrogatepass")
    document = shown(tmp_path, {name: noise + content if mangle else content}, said)
    for row in document["runs"][0]["datasets"] if document else []:
        assert row["tau"] is None or 1 <= row["tau"] <= 65


@relaxed
@given(
    st.sampled_from("a.csv a.jsonl a.json a.txt a.log a.parquet ² evaluation.json config.json".split()),
    st.one_of(
        st.binary(max_size=60), mangled(SAMPLES), mangled(COUNTERS), mangled(TABLES), st.just(b'{"accepted":' * 999)
    ),
)
def test_any_file_is_known_or_not(tmp_path, name, content):
    found = recognise(stored(tmp_path, name, content))
    assert found is None or found[0].key in "step-log samples counters results-table config about".split()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.txt", "a.parquet"])
@pytest.mark.parametrize(
    "content", [b"[" * 90_000, b'{"accepted":' * 20_000, b"PAR1" * 20, b"\0" * 70_000, b'"' * 70_000]
)
def test_deep_and_long(tmp_path, name, content):
    assert recognise(stored(tmp_path, name, content)) is None
