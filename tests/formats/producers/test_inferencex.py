"""InferenceX's golden acceptance lengths: curves measured at every block length, as runs."""

import pytest

from specdash.schema import Bonus, Granularity, InputError
from tests.formats.producers.reading import only, read, read_files, recognised, row, sample, with_samples

CURVE = """\
# Measured with a bench, see https://example.org/runs/17
# dataset: coding | temperature: 1.0 | output_len: 4096
# speculative-config: method=dspark | draft_sample_method=probabilistic
#
# key = number of draft tokens
small-model:
  thinking_on:
    1: 1.84
    2: 2.51
    3: 2.4
  thinking_off:
    1: 1.9
    10: 5
"""


def test_every_block_length_is_a_run(tmp_path):
    runs = read_files(tmp_path, {"small.yaml": CURVE})
    assert list(runs) == [
        "small-model thinking_off K=1",
        "small-model thinking_off K=10",
        "small-model thinking_on K=1",
        "small-model thinking_on K=2",
        "small-model thinking_on K=3",
    ]
    taus = {name.removeprefix("small-model "): (run.k, row(run)["tau"]) for name, run in runs.items()}
    assert taus == {
        "thinking_off K=1": (1, 1.9),
        "thinking_off K=10": (10, 5.0),
        "thinking_on K=1": (1, 1.84),
        "thinking_on K=2": (2, 2.51),
        "thinking_on K=3": (3, 2.4),
    }
    run = runs["small-model thinking_on K=2"]
    assert run.granularity is Granularity.RATES
    assert row(run)["dataset"] == "coding"
    assert run.semantics.bonus is Bonus.IN
    said = {"model": "small-model", "mode": "thinking_on", "k": 2, "dataset": "coding", "temperature": "1.0"}
    assert said.items() <= run.config.items()
    assert run.config["method"] == "dspark" and run.config["output_len"] == "4096"
    assert "https://example.org/runs/17" in run.config["comments"]


def test_without_modes_and_comments(tmp_path):
    run = only(read_files(tmp_path, {"bench/plain.yml": "m:\n  4: 2.7\n  5: null\n"}))
    assert (run.k, row(run)["tau"], row(run)["dataset"]) == (4, 2.7, "bench")
    assert run.config == {"model": "m", "k": 4, "comments": ""}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("m:\n  1: 1.8\n  2: 3.1\n", "line 3: not an acceptance length; found 3.1; expected 1 to 3 with 2 drafted"),
        ("m:\n  1: 0.8\n", "line 2: not an acceptance length; found 0.8"),
        ("m:\n  1: 1.8\n  2: fast\n", "line 3: not an acceptance length; found fast"),
        ("m:\n  1: 1.8\n  1: 1.9\n", "line 3: a name that is none or stands here twice; found 1"),
        ("m:\n  1: 1.8\n  01: 1.9\n", "line 3: a block length stands here twice"),
        ("m:\n  1: 1.8\n  65: 1.9\n", "line 3: not a block length; found 65; expected a whole number from 1 to 64"),
        ("m:\n  1: 1.8\n  0: 1\n", "line 3: not a block length; found 0"),
        ("m:\n  on:\n    1: 1.8\n  off: 2\n", "line 4: not acceptance lengths by block length; found 2"),
        ("m:\n  1: 1.8\nn: 3\n", "line 3: not the acceptance lengths of a model; found 3"),
        ("m:\n  1: 1.8\nm:\n  1: 1.8\n", "line 3: a name that is none or stands here twice; found m"),
        ("m:\n  1: ~\n  2: null\n", "holds no acceptance length"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(content, message, tmp_path):
    if "on:" in content or "fast" in content or "n: 3" in content:
        content += "k:\n  1: 1.5\n"  # a sound curve, by which the file is recognised
    with pytest.raises(InputError, match=message):
        read_files(tmp_path, {"x.yaml": content})


@pytest.mark.parametrize(
    "content",
    [
        "1: 2.5\n",  # no model
        "model: m\nk: 7\n",  # a configuration
        "server:\n  port: 8000\n  2: 3\n",
        "m:\n  - 1.8\n  - 2.5\n",
        "m: {a: {b: {1: 1.8}}}\n",
        "a: &x\n  1: 1.8\nb: [*x\n",  # not YAML
        "",
    ],
)
def test_other_yaml_is_left_alone(content, tmp_path):
    assert recognised(tmp_path, content, "x.yaml") == []


def test_only_yaml_is_looked_at(tmp_path):
    assert recognised(tmp_path, CURVE, "x.yaml") == recognised(tmp_path, CURVE, "x.yml.gz") == ["inferencex-golden"]
    assert recognised(tmp_path, CURVE, "x.txt") == []


@with_samples
def test_the_measured_curve_peaks_at_six(tmp_path):
    runs = read(sample("inferencex-golden-al") / "dsv4-pro-0813-dspark.yaml", tmp_path)
    taus = [row(run)["tau"] for run in runs.values()]
    assert taus == [1.84, 2.51, 3.01, 3.36, 3.61, 3.77, 3.73, 3.47]
    assert [run.k for run in runs.values()] == list(range(1, 9))


EXAMPLES = {
    "inferencex-golden": CURVE,
}
