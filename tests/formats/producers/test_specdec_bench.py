"""specdec_bench. Hand counts: 10 steps of one token, 6 of two and 9 of four: 58 tokens in 25 steps."""

import json

import pytest

from specdash.schema import Bonus, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import codes, only, outcome, pooled, read_files, recognised

TAU = 1 + 33 / 25  # 58 / 25

# P(length ≥ 2) = 15/25, P(≥ 3) = P(≥ 4) = 9/25; length 3 did not occur, and has no bin.
RUN = {
    "Request_AL": {"0": {"0": 2.4, "1": 2.25}},
    "Category_AL": {"coding": 2.33},
    "Average_AL": 2.325,
    "Acceptance_Length_Histogram": {"1": 10, "2": 6, "4": 9},
    "Conditional_Acceptance_Rate": {"1": 1.0, "2": 0.6, "4": 0.6},
    "Joint_Acceptance_Rate": {"1": 1.0, "2": 0.6, "4": 0.36},
}
PROFILE = {
    "schema_version": "1.0",
    "measured": True,
    "method": "eagle3",
    "draft_checkpoint": "org/draft",
    "target_model": "org/target",
    "num_speculative_tokens": 4,
    "block_size": None,
    "verification_method": "longest_prefix",
    "conditional_accept_rates": [0.6, 0.6, 1.0, 0.0],
    "marginal_accept_rates": [0.6, 0.36, 0.36, 0.0],
    "mean_accept_length": 2.32,
    "mean_accept_length_per_request": 2.325,
    "acceptance_length_histogram": {"1": 10, "2": 6, "4": 9},
    "measurement_conditions": {"temperature": 0.0},
    "validation": {},
}


def test_a_list_of_runs_without_k(tmp_path):
    assert recognised(tmp_path, json.dumps([RUN])) == ["specdec-bench"]
    run = only(read_files(tmp_path, {"acceptance_rate.json": json.dumps([RUN])}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.AGGREGATE, None, ["k_unknown", "first_tokens"])
    assert run.counters.select("responses", "steps", "drafted", "accepted", "per_position").rows() == [
        (2, 25, None, 33, None)
    ]
    assert (pooled(run)["tau"], pooled(run)["p"], run.semantics.bonus) == (TAU, None, Bonus.IN)
    assert "of the 2 responses" in run.warnings[1].message
    assert f"τ is {(58 - 2) / (25 - 2):.4f} without them" in run.warnings[1].message


def test_with_k(tmp_path):
    run = only(read_files(tmp_path, {"acceptance_rate.json": json.dumps([RUN])}, config={"k": 3}))
    assert (run.k, codes(run)) == (3, ["first_tokens"])
    assert pooled(run)["p"] == [15 / 25, 9 / 25, 9 / 25]
    assert run.printed == ()  # the rates under lengths have a gap, so which is whose is not plain


def test_rates_under_lengths_begin_with_length_two(tmp_path):
    dense = {
        "Acceptance_Length_Histogram": {"1": 10, "2": 6, "3": 9},
        "Joint_Acceptance_Rate": {"1": 1.0, "2": 0.6, "3": 0.36},
    }
    run = only(read_files(tmp_path, {"a.json": json.dumps([RUN | dense])}, config={"k": 2}))
    assert run.printed[0]["p"] == [0.6, 0.36]
    assert outcome(run, "stored_ratios") == "pass"


def test_appended_runs(tmp_path):
    other = RUN | {"Acceptance_Length_Histogram": {"1": 1, "2": 3}, "Request_AL": {}, "Joint_Acceptance_Rate": None}
    runs = read_files(tmp_path, {"acceptance_rate.json": json.dumps([RUN, other])}, config={"k": 3})
    assert {name: pooled(run)["tau"] for name, run in runs.items()} == {
        "acceptance_rate run 1": TAU, "acceptance_rate run 2": 7 / 4,
    }  # fmt: skip
    assert codes(runs["acceptance_rate run 2"]) == []


def test_a_profile_alone(tmp_path):
    assert recognised(tmp_path, json.dumps(PROFILE)) == ["specdec-bench"]
    run = only(read_files(tmp_path, {"speculation_profile.json": json.dumps(PROFILE)}))
    assert (run.k, codes(run)) == (4, [])
    assert (pooled(run)["tau"], pooled(run)["p"]) == (TAU, [0.6, 0.36, 0.36, 0.0])
    assert run.config == {"temperature": 0.0, "method": "eagle3", "model": "org/target", "drafter": "org/draft"}
    assert outcome(run, "stored_ratios") == "pass"


def test_a_profile_beside_its_runs_tells_their_k(tmp_path):
    files = {"acceptance_rate.json": json.dumps([RUN]), "speculation_profile.json": json.dumps(PROFILE)}
    run = only(read_files(tmp_path, files))
    assert (run.k, codes(run), run.counters["responses"].to_list()) == (4, ["first_tokens"], [2])
    assert run.config["method"] == "eagle3"


def test_blocks_have_no_positions(tmp_path):
    block = {"verification_method": "block", "conditional_accept_rates": None, "marginal_accept_rates": None}
    run = only(read_files(tmp_path, {"p.json": json.dumps(PROFILE | block)}))
    assert (run.k, codes(run), pooled(run)["tau"], pooled(run)["p"]) == (4, ["positions_unknown"], TAU, None)


def test_a_stub_of_a_profile(tmp_path):
    stub = PROFILE | {"measured": False, "acceptance_length_histogram": None, "mean_accept_length": None}
    with pytest.raises(NothingToRead, match="nothing was measured"):
        read_files(tmp_path, {"p.json": json.dumps(stub)})


def test_recognised_behind_thousands_of_requests(tmp_path):
    many = RUN | {"Request_AL": {str(i): {"0": 1.5} for i in range(9_000)}}
    assert recognised(tmp_path, json.dumps([many])) == ["specdec-bench"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"Acceptance_Length_Histogram": {"0": 1, "2": 3}}, "an impossible bin; found 0; expected lengths from 1 on"),
        (
            {"Acceptance_Length_Histogram": {"1": 1, "9": 3}},
            "an acceptance length cannot be; found 9; expected at most 4",
        ),
        ({"Acceptance_Length_Histogram": {"1": 1.5}}, "Acceptance_Length_Histogram is not a count; found 1.5"),
        ({"Acceptance_Length_Histogram": {"x": 1}}, "an impossible bin; found x"),
        ({"Acceptance_Length_Histogram": None}, "run 1 has no histogram"),
        ({"Joint_Acceptance_Rate": {"1": "x"}}, "Joint_Acceptance_Rate is not a number"),
    ],
)
def test_refused(tmp_path, found, said):
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"a.json": json.dumps([RUN | found])}, config={"k": 3})


EXAMPLES = {
    "specdec-bench": json.dumps([RUN]),
}
