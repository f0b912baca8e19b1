"""What is measured of a request, and which requests of two arms are compared."""

import pytest

from specdash.speed.latency import E2E, MEASURES, PER_TOKEN, TPOT, TTFT, pair
from tests.speed.latency.timings import arm, prompts, timing, unlabelled


def seconds(of, measure):
    return of.measured(measure)["seconds"].to_list()


def test_measures_by_hand():
    one = arm("a", timing(2.1, ttft=0.1, tokens=11))
    assert seconds(one, TPOT) == pytest.approx([0.2])
    assert seconds(one, E2E) == [2.1]
    assert seconds(one, TTFT) == [0.1]
    assert seconds(one, PER_TOKEN) == pytest.approx([2.1 / 11])
    assert list(MEASURES) == ["tpot", "e2e", "ttft", "per_token"]


def test_what_is_not_defined_is_left_out():
    odd = arm(
        "a",
        timing(2.0, tokens=1),
        timing(2.0, tokens=0, ttft=None),
        timing(2.0, tokens=None),
        timing(None, ttft=None),
        timing(0.1, ttft=0.1),  # the whole answer in one chunk: no pace
        timing(3.0, error="HTTP 500"),
    )
    assert len(seconds(odd, E2E)) == 4
    assert seconds(odd, TPOT) == []
    assert len(seconds(odd, PER_TOKEN)) == 2
    assert len(seconds(odd, TTFT)) == 3


def test_pairs_are_prompts_that_both_answered():
    base = arm("base", *(timing(s, prompt=p) for p, s in [("x", 1.0), ("y", 2.0), ("z", 3.0)]))
    spec = arm(
        "spec", *(timing(s, prompt=p, error=e) for p, s, e in [("y", 1.0, None), ("x", 1.0, None), ("z", 9, "!")])
    )
    found = pair(base, spec, E2E)
    assert (found.prompts, found.left_out, found.least) == (2, (1, 0), 2)
    assert found.base.seconds.tolist() == [1.0, 2.0]
    assert found.base.mean_log_by_prompt.tolist() == pytest.approx([0, 0.6931472])


def test_prompts_of_two_datasets_are_not_one():
    base = arm("base", timing(1.0, prompt="0", dataset="a"), timing(4.0, prompt="0", dataset="b"))
    spec = arm("spec", timing(2.0, prompt="0", dataset="b"), timing(0.5, prompt="0", dataset="a"))
    found = pair(base, spec, E2E)
    ratios = found.base.mean_log_by_prompt - found.spec.mean_log_by_prompt
    assert found.prompts == 2
    assert ratios.tolist() == pytest.approx([0.6931472] * 2)


def test_files_that_name_no_dataset_are_paired_by_prompt():
    base = arm("base", *(timing(2.0, prompt=str(i), dataset="baseline_c4") for i in range(6)))
    spec = arm("spec", *(timing(1.0, prompt=str(i), dataset="ngram_c4") for i in range(6)))
    assert pair(base, spec, E2E).prompts == 6
    two = arm("spec", timing(1.0, prompt="0", dataset="a"), timing(1.0, prompt="0", dataset="b"))
    assert pair(base, two, E2E).prompts == 0


def test_copies_are_averaged_on_the_log():
    base = arm("base", timing(1.0, prompt="x"), timing(4.0, prompt="x"))
    spec = arm("spec", timing(1.0, prompt="x"))
    found = pair(base, spec, E2E)
    assert (found.prompts, found.base.seconds.size) == (1, 2)
    assert found.base.mean_log_by_prompt.tolist() == pytest.approx([0.6931472])  # log of the geometric mean, 2


def test_requests_that_do_not_say_their_prompt_are_not_paired():
    found = pair(unlabelled("a", [2.0, 1.0]), prompts("b", [1.0]), E2E)
    assert (found.prompts, found.least) == (None, 1)
    assert found.base.seconds.tolist() == [1.0, 2.0]
    assert pair(prompts("a", [1.0]), prompts("b", [1.0]), E2E, paired=False).prompts is None
