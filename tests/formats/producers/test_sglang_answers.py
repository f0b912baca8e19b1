"""SGLang's answers. META is a hand count: four steps that accepted 0, 1, 2 and 3 of 3 drafted tokens."""

import json

import polars as pl
import pytest

from specdash import metrics
from specdash.schema import Bonus, End, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import codes, counts, only, read, read_files, recognised, sample, with_samples

META = {
    "id": "x",
    "completion_tokens": 10,
    "spec_verify_ct": 4,
    "spec_accept_length": 2.5,
    "spec_accept_rate": 0.5,
    "spec_num_correct_drafts": 6,
    "spec_num_proposed_drafts": 12,
    "spec_correct_drafts_histogram": [1, 1, 1, 1],
    "e2e_latency": 0.2,
}
OUTCOMES = {(0, 3, 0): 1, (0, 3, 1): 1, (0, 3, 2): 1, (0, 3, 3): 1}
NAMES_OF_2025 = {"spec_num_correct_drafts": "spec_accept_token_num", "spec_num_proposed_drafts": "spec_draft_token_num"}
NAMES_OF_2026 = {"spec_num_correct_drafts": "spec_accepted_drafts", "spec_num_proposed_drafts": "spec_proposed_drafts"}


def native(meta=META, **fields):
    return {"text": "…", "meta_info": meta} | fields


def named(names, histogram="spec_accept_histogram"):
    renamed = {names.get(name, name): value for name, value in META.items()}
    return {histogram if name == "spec_correct_drafts_histogram" else name: value for name, value in renamed.items()}


def without(*names):
    return {name: value for name, value in META.items() if name not in names}


def chat(details, **fields):
    return {
        "id": "x", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"content": "…"}}],
        "usage": {"completion_tokens": 10}, "sglext": {"spec_tokens_details": details},
    } | fields  # fmt: skip


def lines(*objects):
    return "".join(json.dumps(found) + "\n" for found in objects)


def pooled(run):
    return metrics.run_rows(run, {}.get)[0][-1]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(native()),
        json.dumps([native()]),
        json.dumps(native(), indent=1),
        lines([native()]),
        json.dumps(META),
        json.dumps(native(named(NAMES_OF_2025))),
        json.dumps(native(named(NAMES_OF_2026))),
        json.dumps(native(META | {"spec_accepted_drafts": 6, "spec_accept_histogram": [1, 1, 1, 1]})),
        json.dumps(native(without("spec_num_correct_drafts"))),
        json.dumps(chat(without("id", "completion_tokens"))),
        json.dumps(chat([without("id", "completion_tokens")])),
        json.dumps({"prompt": "p", "response": native()}),
        "".join(f"data: {json.dumps(native(m))}\n\n" for m in ({"id": "x"}, META | {"spec_verify_ct": 1}, META)),
    ],
)
def test_shapes_and_names(tmp_path, content):
    run = only(read_files(tmp_path, {"a.txt": content}))
    assert (run.granularity, run.k, counts(run)) == (Granularity.RESPONSE, 3, OUTCOMES)
    assert run.responses.select("request", "output_tokens").rows() == [("x", 10)]
    row = pooled(run)
    assert (row["tau"], row["acceptance_ratio"], row["p"], row["c"]) == (
        2.5,
        0.5,
        [0.75, 0.5, 0.25],
        [0.75, 2 / 3, 0.5],
    )
    assert codes(run) == ["drafted_assumed"]


def test_semantics(tmp_path):
    said = only(read_files(tmp_path, {"a.json": json.dumps(native())})).semantics
    assert (said.bonus, said.end) == (Bonus.IN, End.TOKENS)


def test_no_block_length_where_no_step_accepted_all_of_it(tmp_path):
    # A tree of 16 nodes proposes 15 tokens and is 3 deep: what a step accepted does not tell a chain.
    tree = META | {"spec_num_proposed_drafts": 60, "spec_accept_rate": 0.1}
    run = only(read_files(tmp_path, {"a.json": json.dumps(native(tree))}))
    assert counts(run) == {(0, None, j): 1 for j in range(4)}
    assert (pooled(run)["tau"], pooled(run)["drafted"], pooled(run)["c"]) == (2.5, 60, None)
    said = only(read_files(tmp_path / "b", {"a.json": json.dumps(native(tree))}, config={"k": 15}))
    assert (said.k, pooled(said)["c"][:4]) == (15, [0.75, 2 / 3, 0.5, 0.0])


def test_a_chain_is_known_by_any_answer_of_the_run(tmp_path):
    short = META | {"id": "y", "spec_num_correct_drafts": 1, "spec_correct_drafts_histogram": [3, 1]}
    run = only(read_files(tmp_path, {"a.jsonl": lines(native(), native(short))}))
    assert counts(run) == OUTCOMES | {(1, 3, 0): 3, (1, 3, 1): 1}


def test_proposals_that_were_counted(tmp_path):
    counted = {"spec_num_proposed_drafts": 10, "spec_proposed_drafts_histogram": [0, 0, 2, 2]}
    run = only(read_files(tmp_path, {"a.json": json.dumps(native(META | counted))}))
    assert (counts(run), pooled(run)["drafted"], codes(run)) == ({(0, None, j): 1 for j in range(4)}, 10, [])


def test_counts_without_a_histogram(tmp_path):
    bare = native(without("spec_correct_drafts_histogram"))
    run = only(read_files(tmp_path, {"a.json": json.dumps(bare)}))
    assert run.sums.rows() == [(0, 4, 12, 6)]
    assert (pooled(run)["tau"], pooled(run)["acceptance_ratio"], pooled(run)["p"]) == (2.5, 0.5, None)


def test_steps_alone(tmp_path):
    first = {"id": "x", "completion_tokens": 10, "spec_verify_ct": 4}
    run = only(read_files(tmp_path, {"a.json": json.dumps(native(first))}))
    assert run.sums.rows() == [(0, 4, None, 6)]
    assert (pooled(run)["tau"], codes(run)) == (2.5, ["accepted_from_tokens"])


def test_steps_in_order(tmp_path):
    stats = {"num_verification_steps": 2, "verify_lengths": [6, 5], "accept_lengths": [4, 3]}
    for place in (
        native(META | {"speculative_decoding_stats": stats}),
        {"id": "x", "choices": [], "sglext": {"speculative_decoding_stats": [stats]}},
    ):
        folder = tmp_path / str(len(place))
        run = only(read_files(folder, {"a.json": json.dumps(place)}))
        assert (run.granularity, counts(run)) == (Granularity.STEP, {(0, 5, 3): 1, (0, 4, 2): 1})
        assert pl.read_parquet(run.steps).rows() == [("x", 5, 3), ("x", 4, 2)]


def test_the_stored_length_is_tokens_over_steps(tmp_path):
    cut = META | {"completion_tokens": 9, "spec_accept_length": 2.25}  # the last token accepted was cut off
    run = only(read_files(tmp_path, {"a.json": json.dumps(native(cut))}))
    assert (pooled(run)["tau"], codes(run)) == (2.5, ["drafted_assumed"])
    wrong = only(read_files(tmp_path / "b", {"a.json": json.dumps(native(META | {"spec_accept_length": 3.5}))}))
    assert wrong.warnings[1].message == (
        "stored ratios differ from the counts: x: spec_accept_length 3.5 is 2.5000 by output tokens over steps"
    )


def test_answers_of_requests_that_verified_nothing(tmp_path):
    short = native({"id": "s", "completion_tokens": 1})
    run = only(read_files(tmp_path, {"a.jsonl": lines(native(), short, {"error": {"message": "x"}})}))
    assert run.responses.height == 1
    assert [w.message[:36] for w in run.warnings[1:]] == [
        "1 of 2 answers report no drafting (n",
        "1 requests failed and are in no numb",
    ]
    with pytest.raises(NothingToRead, match="no answer reports its drafting; found 1 answers without, 0 errors"):
        read_files(tmp_path / "b", {"a.jsonl": lines(native(META | {"spec_verify_ct": 0}))})


def test_a_long_answer_before_its_numbers(tmp_path):
    assert recognised(tmp_path, json.dumps(native(text="long " * 30_000))) == ["sglang-answer"]
    assert recognised(tmp_path, lines(native(), native())) == ["sglang-answers"]
    assert recognised(tmp_path, json.dumps({"text": "…", "meta_info": {"id": "x"}})) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spec_verify_ct": 5}, "the histogram contradicts the counts beside it; found 4 steps and 6 accepted tokens"),
        ({"spec_num_correct_drafts": 7}, "the histogram contradicts the counts beside it"),
        ({"spec_num_proposed_drafts": 5}, "more tokens accepted than drafted"),
        ({"spec_correct_drafts_histogram": "x"}, "spec_correct_drafts_histogram is no histogram"),
        ({"spec_verify_ct": -1}, "spec_verify_ct is not a count; found -1"),
        (
            {"speculative_decoding_stats": {"verify_lengths": [2], "accept_lengths": [1, 1]}},
            "do not fit; found 1 and 2",
        ),
    ],
)
def test_refused(tmp_path, change, message):
    with pytest.raises(InputError, match=message) as error:
        read_files(tmp_path, {"a.jsonl": lines(native(META | {"id": "0"}), native(META | change))})
    assert (error.value.file, error.value.line) == ("a.jsonl", 2)


@with_samples
def test_samples(tmp_path):
    # Counted in its own note: 43 steps, 63 accepted, 215 proposed.
    run = only(read(sample("sglang-spec-details-pr33518"), tmp_path))
    row = pooled(run)
    assert (run.k, row["steps"], row["accepted"], row["drafted"], row["tau"]) == (5, 43, 63, 215, 1 + 63 / 43)


EXAMPLES = {
    "sglang-answer": json.dumps(native()),
    "sglang-answers": lines(native(), chat(META), native()),
}
