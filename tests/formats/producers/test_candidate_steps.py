"""Tables of candidates. Two responses of two steps and one: accepted lengths 7, 1 and 3 of candidates of 7."""

import pytest

from specdash.schema import Bonus, Granularity, InputError, Unsaid
from tests.formats.producers.reading import codes, counts, only, pooled, read_files, recognised

HEAD = "Step,Accept Rate,Candidate Length,Accept Length\n"
ROWS = HEAD + "1,0.03,7,7\n2,0.03,7,1\n1,0.03,7,3\n"


def test_the_bonus_token_is_asked(tmp_path):
    assert recognised(tmp_path, ROWS, "x.csv") == ["candidate-steps"]
    with pytest.raises(Unsaid) as asked:
        read_files(tmp_path, {"x.csv": ROWS})
    assert asked.value.asks == "bonus"


def test_without_the_bonus_token(tmp_path):
    run = only(read_files(tmp_path, {"x.csv": ROWS}, bonus="out"))
    assert (run.granularity, run.k) == (Granularity.STEP, 7)
    assert counts(run) == {(0, 7, 7): 1, (0, 7, 1): 1, (1, 7, 3): 1}
    assert pooled(run)["tau"] == 1 + 11 / 3


def test_with_the_bonus_token_k_is_not_known(tmp_path):
    run = only(read_files(tmp_path, {"x.csv": ROWS}, bonus="in"))
    assert (run.granularity, run.k, codes(run)) == (Granularity.RESPONSE, None, ["k_unknown"])
    assert counts(run) == {(0, None, 6): 1, (0, None, 0): 1, (1, None, 2): 1}
    assert (pooled(run)["tau"], pooled(run)["p"], run.semantics.bonus) == (11 / 3, None, Bonus.IN)


@pytest.mark.parametrize("k", [6, 7])
def test_with_the_bonus_token_and_k(tmp_path, k):
    run = only(read_files(tmp_path, {"x.csv": ROWS}, bonus="in", config={"k": k}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.STEP, k, [])
    assert counts(run) == {(0, k, 6): 1, (0, k, 0): 1, (1, k, 2): 1}


def test_a_length_above_its_candidate_tells_that_candidates_are_drafts(tmp_path):
    run = only(read_files(tmp_path, {"x.csv": ROWS + "2,0.03,7,8\n"}, bonus="in"))
    assert (run.granularity, run.k, codes(run)) == (Granularity.STEP, 7, [])


@pytest.mark.parametrize(
    ("content", "said", "message"),
    [
        (ROWS, {"bonus": "in", "config": {"k": 3}}, "candidates of other lengths; found 7; expected 3 or 4, as K is 3"),
        (ROWS + "2,0.1,7,9\n", {"bonus": "in"}, "line 5: an accepted length cannot be"),
        (ROWS + "2,0.1,7,x\n", {"bonus": "in"}, "line 5: accepted is not a count; found x"),
        (ROWS + "2,0.1,7,8\n", {"bonus": "out"}, "line 5: an accepted length cannot be"),
        (ROWS + "2,0.1\n", {"bonus": "in"}, "line 5"),
    ],
)
def test_refused(tmp_path, content, said, message):
    with pytest.raises(InputError, match=message):
        read_files(tmp_path, {"x.csv": content}, **said)


EXAMPLES = {
    "candidate-steps": ROWS,
}
