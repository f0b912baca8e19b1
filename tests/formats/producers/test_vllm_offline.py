"""What vLLM's offline example prints, in its variants; counts are chosen by hand."""

import pytest

from specdash.schema import Granularity, InputError, Unsaid
from tests.formats.producers.reading import codes, only, read_files, row

COUNTS = """--------------------------------------------------
total_num_output_tokens: 260
num_drafts: 100
num_draft_tokens: 300
num_accepted_tokens: 150
mean acceptance length: 2.50
--------------------------------------------------
acceptance at token 0: 0.80
acceptance at token 1: 0.45
acceptance at token 2: 0.25
"""
OLD = "mean acceptance length: 1.64\nacceptance at token 0:0.64\nacceptance at token 1:0.00\n"


def test_counts(tmp_path):
    run = only(read_files(tmp_path, {"out": COUNTS}))
    assert (row(run)["steps"], row(run)["drafted"], row(run)["per_position"]) == (100, 300, [80, 45, 25])
    assert codes(run) == []


@pytest.mark.parametrize(
    "text",
    [
        COUNTS.replace("num_drafts", "Number of drafts").replace("num_draft_tokens", "Draft tokens"),
        COUNTS.replace("mean acceptance length", "mean acceptance length (including bonus tokens)"),
    ],
)
def test_other_words(tmp_path, text):
    assert row(only(read_files(tmp_path, {"out": text})))["per_position"] == [80, 45, 25]


@pytest.mark.parametrize(
    ("text", "tau"),
    [
        (OLD, 1.64),  # 1 + 0.64
        (OLD.replace("1.64", "0.64"), 1.64),
        (OLD.replace("length:", "length (excluding bonus tokens):"), 2.64),
    ],
)
def test_ratios_alone(tmp_path, text, tau):
    run = only(read_files(tmp_path, {"out": text}))
    assert (run.granularity, run.k, row(run)["tau"], row(run)["p"]) == (
        Granularity.RATES,
        2,
        pytest.approx(tau),
        [0.64, 0.0],
    )


def test_a_bonus_that_nothing_tells_is_asked(tmp_path):
    odd = OLD.replace("1.64", "1.20")
    with pytest.raises(Unsaid, match="does the mean acceptance length count the bonus token") as asked:
        read_files(tmp_path, {"out": odd})
    assert (asked.value.asks, asked.value.expected) == ("bonus", "--bonus in or --bonus out to say it")
    for said, tau in (("in", 1.2), ("out", 2.2)):
        assert row(only(read_files(tmp_path / said, {"out": odd}, bonus=said)))["tau"] == tau


def test_objects(tmp_path):
    text = "x\n" + "\n".join(
        [
            "Counter(name='vllm:spec_decode_num_drafts', labels={'model_name': 'm'}, value=100)",
            "Counter(name='vllm:spec_decode_num_draft_tokens', labels={}, value=300)",
            "Counter(name='vllm:spec_decode_num_accepted_tokens', labels={}, value=150)",
            "Vector(name='vllm:spec_decode_num_accepted_tokens_per_pos', labels={}, values=[80, 45, 25])",
        ]
    )
    assert row(only(read_files(tmp_path, {"out": text})))["per_position"] == [80, 45, 25]


def test_refused(tmp_path):
    with pytest.raises(InputError, match="positions are not 0, 1, 2, …; found 0, 1, 3"):
        read_files(tmp_path, {"out": COUNTS.replace("token 2", "token 3")})


@pytest.mark.parametrize("count", ["9" * 400, "9" * 5000, "1.2.3", "100.5"])
def test_what_is_no_count_is_refused(tmp_path, count):
    with pytest.raises(InputError):
        read_files(tmp_path, {"out": COUNTS.replace("num_drafts: 100", f"num_drafts: {count}")})


EXAMPLES = {
    "vllm-offline": COUNTS,
}
