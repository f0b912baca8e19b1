"""TensorRT-LLM's iteration statistics. Expected values are hand sums of the numbers here."""

import json

import pytest

from specdash import metrics
from specdash.schema import Bonus, Granularity, InputError, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read_files, recognised, row


def iteration(number, steps, drafted, accepted, length):
    stats = {"numDraftTokens": drafted, "numAcceptedTokens": accepted, "numRequestsWithDraftTokens": steps,
             "acceptanceLength": length, "draftOverhead": 0.11}  # fmt: skip
    return {"iter": number, "iterLatencyMS": 9.1, "numActiveRequests": 4, "specDecodingStats": stats}


PROMPT = {"iter": 15, "iterLatencyMS": 50.0, "specDecodingStats": None}
LIST = [
    PROMPT,
    iteration(16, 0, 0, 0, 1.0),
    iteration(17, 4, 12, 7, 2.75),
    iteration(18, 1, 3, 3, 4.0),
    iteration(19, 0, 0, 0, 0.0),
]


@pytest.mark.parametrize(
    "content",
    [json.dumps(LIST), json.dumps(LIST, indent=1), "".join(json.dumps(i) + "\n" for i in LIST),
     json.dumps(LIST[:3]) + "\n[]\n" + json.dumps(LIST[3:]) + "\n"],
    ids=["list", "indented", "lines", "lists a line"],
)  # fmt: skip
def test_iterations_pool_by_their_counts(tmp_path, content):
    run = only(read_files(tmp_path, {"stats": content}, config={"k": 3}))
    found = row(run)
    assert (found["steps"], found["drafted"], found["accepted"], found["block"]) == (5, 15, 10, 3)
    assert (run.granularity, run.semantics.bonus, run.semantics.span) == (Granularity.AGGREGATE, Bonus.IN, Span.WINDOWS)
    assert metrics.run_rows(run, {}.get)[0][-1]["tau"] == 3.0  # the mean of 2.75 and 4.0 is another
    assert codes(run) == []


def test_a_length_without_drafts_means_nothing(tmp_path):
    with pytest.raises(NothingToRead, match="no iteration drafted anything"):
        read_files(tmp_path, {"stats.json": json.dumps([LIST[0], LIST[1], LIST[4]])})
    assert recognised(tmp_path, json.dumps(LIST)) == ["trtllm-iterations"]


def test_stored_lengths_that_differ_are_told(tmp_path):
    run = only(read_files(tmp_path, {"stats.json": json.dumps([iteration(17, 4, 12, 7, 1.75)])}))
    message = "stored lengths differ: acceptanceLength 1.75 of iteration 17 is 2.7500 by its counts"
    assert [w.message for w in run.warnings] == [message]


@pytest.mark.parametrize("counts", [(4, 12, 13), (13, 12, 7), (0, 12, 7), (4, -1, 0), (4, 12, 1.5)])
def test_refused(tmp_path, counts):
    with pytest.raises(InputError):
        read_files(tmp_path, {"stats.json": json.dumps([iteration(17, *counts, 2.0)])})


EXAMPLES = {
    "trtllm-iterations": json.dumps(LIST),
}
