"""Traces of proposals. Hand counts: a round of 3 accepted whole, one that accepted 1, one that accepted none."""

import json

import pytest

from specdash.schema import Bonus, Granularity, InputError
from tests.formats.producers.reading import codes, counts, only, pooled, read_files, recognised, row


def rows(number, accepted, drafted=None, *, batch=0):
    """A round's rows: up to the first rejected token, the bonus token behind a whole draft."""
    said = [True] * accepted + ([False] if accepted != drafted else [])
    made = [
        {
            "round": number,
            "batch": batch,
            "pos_in_round": i,
            "output_position": i,
            "actually_accepted": done,
            "emission_source": "accepted_draft" if done else "recovered",
        }
        for i, done in enumerate(said)
    ]
    if accepted == drafted:
        made.append({"round": number, "batch": batch, "pos_in_round": drafted, "emission_source": "bonus"})
    return made


def lines(*found):
    return "".join(json.dumps(one) + "\n" for one in found)


TRACE = lines(*rows(0, 3, 3), *rows(1, 1), *rows(2, 0))


def test_k_is_asked(tmp_path):
    assert recognised(tmp_path, TRACE) == ["vllm-proposals"]
    run = only(read_files(tmp_path, {"proposals.jsonl": TRACE}))
    assert (run.granularity, codes(run)) == (Granularity.RESPONSE, ["k_unknown"])
    assert "those accepted whole drafted 3" in run.warnings[0].message
    assert counts(run) == {(0, None, 3): 1, (0, None, 1): 1, (0, None, 0): 1}
    assert (pooled(run)["tau"], run.semantics.bonus) == (1 + 4 / 3, Bonus.OUT)


def test_with_k(tmp_path):
    run = only(read_files(tmp_path, {"proposals.jsonl": TRACE}, config={"k": 3}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.STEP, 3, [])
    assert counts(run) == {(0, 3, 3): 1, (0, 3, 1): 1, (0, 3, 0): 1}
    assert pooled(run)["p"] == [2 / 3, 1 / 3, 1 / 3]


def test_drafts_of_several_lengths(tmp_path):
    run = only(read_files(tmp_path, {"p.jsonl": TRACE + lines(*rows(3, 2, 2))}, config={"k": 3}))
    assert (run.granularity, codes(run)) == (Granularity.RESPONSE, ["k_unknown"])
    with pytest.raises(InputError, match="a draft is longer than K; found 3; expected at most 2"):
        read_files(tmp_path / "b", {"p.jsonl": TRACE}, config={"k": 2})


def test_rows_behind_a_rejection_tell_all_lengths(tmp_path):
    more = [*rows(1, 1), {"round": 1, "batch": 0, "pos_in_round": 2, "actually_accepted": False}]
    run = only(read_files(tmp_path, {"p.jsonl": lines(*rows(0, 2, 2), *more)}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.STEP, 3, [])
    assert counts(run) == {(0, 2, 2): 1, (0, 3, 1): 1}


def test_a_batch_does_not_say_whose_a_round_is(tmp_path):
    content = TRACE + lines(*rows(2, 2, batch=1))
    run = only(read_files(tmp_path, {"p.jsonl": content}, config={"k": 3}))
    assert (run.granularity, codes(run)) == (Granularity.AGGREGATE, ["responses_unknown"])
    assert (row(run)["steps"], row(run)["per_position"]) == (4, [3, 2, 1])


def test_a_trace_that_begins_anew_is_another_answer(tmp_path):
    run = only(read_files(tmp_path, {"p.jsonl": TRACE + TRACE}, config={"k": 3}))
    assert run.responses["request"].to_list() == ["p.jsonl", "p.jsonl#1"]


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        (rows(2, 0), {(0, 3, 3): 1, (0, 3, 1): 1}),  # the round that is cut off has no other row
        (rows(2, 2), {(0, 3, 3): 1, (0, 3, 1): 1}),  # nor can it be told what became of one that has
        ([*rows(2, 0), *rows(3, 0)], {(0, 3, 3): 1, (0, 3, 1): 1, (0, 3, 0): 1}),
    ],
)
def test_a_last_line_that_is_cut_off(tmp_path, end, kept):
    content = lines(*rows(0, 3, 3), *rows(1, 1), *end)[:-20]
    run = only(read_files(tmp_path, {"p.jsonl": content}, config={"k": 3}))
    assert (counts(run), codes(run)) == (kept, ["cut_off"])


def test_the_files_beside_it(tmp_path):
    """Its run.json calls the sum of the drafted tokens draft_tokens: that is no K."""
    beside = {"draft_tokens": 5120.0, "accepted_tokens": 2000.0, "l_bar": 1.95, "num_speculative_tokens": 3}
    run = only(read_files(tmp_path, {"proposals.jsonl": TRACE, "run.json": json.dumps(beside)}))
    assert (run.k, run.config["draft_tokens"]) == (3, 5120.0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lines(*rows(0, 1)[1:]), "line 1: a row does not follow the one before"),
        (lines(*rows(0, 3, 3), rows(0, 3, 3)[-1]), "line 5: a row does not follow the one before"),
        (
            lines(*rows(0, 0), {"round": 0, "pos_in_round": 1, "actually_accepted": True}),
            "line 2: a token behind a rej",
        ),
        (lines({"round": 0, "pos_in_round": 0, "emission_source": "x"}), "line 1: a row does not say whether"),
        (lines({"pos_in_round": 0, "emission_source": "x", "round": None}), "line 1: a row has no round"),
        (lines({"pos_in_round": 0.5, "emission_source": "x", "round": 0}), "line 1: pos_in_round is not a count"),
    ],
)
def test_refused(tmp_path, content, said):
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"p.jsonl": content})


EXAMPLES = {
    "vllm-proposals": TRACE,
}
