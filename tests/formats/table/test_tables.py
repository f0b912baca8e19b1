"""Tables of any tool. The steps of STEPS are counted by hand: 3 of 7, 7 of 7, 0 of 7, 5 of 7; τ = 1 + 15/4."""

import json

import polars as pl
import pytest

from specdash import metrics
from specdash.schema import Bonus, Granularity, InputError, Undrafted, Unsaid
from tests.formats.producers.reading import codes, counts, only, read_files

STEPS = [("r1", 7, 3), ("r1", 7, 7), ("r2", 7, 0), ("r2", 7, 5)]
OUTCOMES = {(0, 7, 3): 1, (0, 7, 7): 1, (1, 7, 0): 1, (1, 7, 5): 1}
TAU = 1 + 15 / 4
NAMES = ("request_id", "drafted", "accepted")
ODD = ("who", "n", "got")
SAID = {"accepted": "got", "drafted": "n", "request": "who"}


def csv(names, rows=STEPS, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in [names, *rows])


def lines(names, rows=STEPS):
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def parquet(folder, names, rows=STEPS):
    path = folder / "written.parquet"
    pl.DataFrame(rows, schema=list(names), orient="row").write_parquet(path)
    return path.read_bytes()


def tau(run):
    return metrics.run_rows(run, {}.get)[0][-1]["tau"]


def unsaid(folder, files, **options):
    with pytest.raises(Unsaid) as error:
        read_files(folder, files, **options)
    return error.value


# ---- names that are known


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tsv", csv(NAMES, separator="\t")),
        ("x.csv", csv(NAMES, separator=";")),
        ("x.txt", csv(("Request ID", "draft-tokens", "numAccepted"), separator=";")),
        ("x.csv", "\ufeff" + csv(NAMES, separator=";").replace("\n", "\r\n") + "\r\n\r\n"),
        ("x.jsonl", lines(NAMES)),
        ("x.json", json.dumps([dict(zip(NAMES, row, strict=True)) for row in STEPS])),
        ("x.jsonl", lines(("request_id", "spec", "x"), [(r, {"k": k, "accepted": a}, None) for r, k, a in STEPS])),
    ],
)
def test_known_names(tmp_path, name, content):
    said = {"map": {"drafted": "spec.k", "accepted": "spec.accepted"}, "bonus": "out"} if "spec" in content else {}
    run = only(read_files(tmp_path, {name: content}, **said))
    assert (counts(run), run.granularity, run.k) == (OUTCOMES, Granularity.STEP, 7)
    assert pl.read_parquet(run.steps).rows() == STEPS
    assert tau(run) == TAU
    assert (run.semantics.bonus, run.semantics.undrafted) == (Bonus.OUT, Undrafted.COUNTED)


def test_a_dataset_by_step(tmp_path):
    rows = [("a", 1, 7, 3), ("b", 1, 7, 7), ("a", 1, 7, 0), ("b", 2, 7, 5)]
    run = only(read_files(tmp_path, {"x.csv": csv(("dataset", *NAMES), rows)}))
    found = run.responses.select("request", "dataset").rows()
    assert found == [("1", "a"), ("1 (2)", "b"), ("2", "b")]  # an id counts within its dataset
    assert counts(run) == {(0, 7, 0): 1, (0, 7, 3): 1, (1, 7, 7): 1, (2, 7, 5): 1}


def test_steps_that_are_numbered_tell_responses(tmp_path):
    rows = [(1, 7, 3), (2, 7, 7), (1, 7, 0), (2, 7, 5)]
    run = only(read_files(tmp_path, {"x.csv": csv(("step", "drafted", "accepted"), rows)}))
    assert counts(run) == OUTCOMES


def test_prompts_and_copies_tell_responses(tmp_path):
    rows = [("p", 0, 7, 3), ("p", 0, 7, 7), ("p", 1, 7, 0), ("p", 1, 7, 5)]
    run = only(read_files(tmp_path, {"x.csv": csv(("prompt_id", "copy", "drafted", "accepted"), rows)}))
    assert counts(run) == OUTCOMES
    assert run.responses.select("prompt", "copy").rows() == [("p", 0), ("p", 1)]


def test_a_row_a_response(tmp_path):
    names = ("id", "dataset", "prompt_id", "num_drafts", "draft_tokens", "accepted_tokens", "output_tokens")
    rows = [("r1", "a", "p", 2, 14, 10, 13), ("r2", "a", "q", 2, 14, 5, 8)]
    run = only(read_files(tmp_path, {"x.csv": csv(names, rows)}))
    assert run.granularity is Granularity.RESPONSE and run.counts is None
    assert run.sums.rows() == [(0, 2, 14, 10), (1, 2, 14, 5)]
    assert run.responses["output_tokens"].to_list() == [13, 8]
    assert tau(run) == TAU


def test_samples_without_a_log_are_a_table(tmp_path):
    rows = [("p", "a", 2, 14, 10), ("q", "a", 2, 14, 5)]
    names = ("prompt_id", "dataset", "num_drafts", "draft_tokens", "accepted_tokens")
    run = only(read_files(tmp_path, {"samples.jsonl": lines(names, rows)}))
    assert tau(run) == TAU


def test_a_row_a_dataset(tmp_path):
    names = ("dataset", "drafts", "draft_tokens", "accepted")
    run = only(read_files(tmp_path, {"x.csv": csv(names, [("a", 2, 14, 10), ("b", 2, 14, 5)])}, config={"k": 7}))
    assert run.granularity is Granularity.AGGREGATE
    found = run.counters.select("dataset", "steps", "drafted", "accepted", "block").rows()
    assert found == [("a", 2, 14, 10, 7), ("b", 2, 14, 5, 7)]
    assert tau(run) == TAU


@pytest.mark.parametrize("bonus", ["in", "out"])
def test_a_list_of_steps_a_row(tmp_path, bonus):
    more = 1 if bonus == "in" else 0
    rows = [("r1", [3 + more, 7 + more]), ("r2", [0 + more, 5 + more])]
    found = read_files(tmp_path, {"x.jsonl": lines(("id", "accept_lengths"), rows)}, bonus=bonus, config={"k": 7})
    assert counts(only(found)) == OUTCOMES and only(found).granularity is Granularity.STEP


def test_lists_in_other_forms(tmp_path):
    quoted = 'id;accept_lengths;drafted\nr1;"[4, 8]";"[7, 7]"\nr2;"[1, 6]";"[7, 7]"\n'
    assert counts(only(read_files(tmp_path / "csv", {"x.csv": quoted}, bonus="in"))) == OUTCOMES
    rows = [("r1", [3, 7], 14), ("r2", [0, 5], 14)]
    content = parquet(tmp_path, ("id", "per_step_accepted", "draft_tokens"), rows)
    run = only(read_files(tmp_path / "parquet", {"x.parquet": content}))
    assert counts(run) == {(0, None, 3): 1, (0, None, 7): 1, (1, None, 0): 1, (1, None, 5): 1}
    assert run.sums.rows() == [(0, 2, 14, 10), (1, 2, 14, 5)]


def test_means_with_decimals_enough(tmp_path):
    rows = [("r1", 2, "6.00"), ("r2", 3, "2.67")]  # 5 accepted in 3 steps: 1 + 5/3 = 2.67
    run = only(read_files(tmp_path, {"x.csv": csv(("id", "steps", "accept_len"), rows)}, bonus="in"))
    assert run.sums["accepted"].to_list() == [10, 5]
    with pytest.raises(InputError, match="line 2: the mean does not tell the accepted tokens"):
        read_files(tmp_path / "few", {"x.csv": csv(("id", "steps", "tau"), [("r1", 300, 2.67)])}, bonus="in")
    with pytest.raises(InputError, match="line 2: the mean does not tell"):
        read_files(tmp_path / "not", {"x.csv": csv(("id", "steps", "tau"), [("r1", 3, 2.5001)])}, bonus="in")


# ---- what nobody knows is asked


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "json"])
def test_columns_of_other_names_are_asked(tmp_path, kind):
    content = {
        "csv": csv(ODD),
        "jsonl": lines(ODD),
        "json": json.dumps([dict(zip(ODD, row, strict=True)) for row in STEPS]),
        "parquet": parquet(tmp_path, ODD),
    }[kind]
    error = unsaid(tmp_path / "ask", {f"x.{kind}": content})
    assert (error.asks, error.columns, error.known) == ("map", ODD, {})
    assert [cells[0] for _, cells in error.rows] == ["r1", "r1", "r2", "r2"]
    assert str(error).endswith("found columns who, n, got; expected --map accepted=COLUMN to say it")
    error = unsaid(tmp_path / "bonus", {f"x.{kind}": content}, map=SAID)
    assert error.asks == "bonus"
    run = only(read_files(tmp_path / "out", {f"x.{kind}": content}, map=SAID, bonus="out"))
    assert counts(run) == OUTCOMES
    assert run.semantics.note == "Columns: accepted is got, drafted is n, request is who."


def test_the_bonus_token_counted(tmp_path):
    rows = [(r, k, a + 1) for r, k, a in STEPS]
    run = only(read_files(tmp_path, {"x.csv": csv(ODD, rows)}, map=SAID, bonus="in"))
    assert counts(run) == OUTCOMES and tau(run) == TAU
    with pytest.raises(InputError, match="line 4: an accepted length cannot be; found 0; expected 1 to 8"):
        read_files(tmp_path / "zero", {"x.csv": csv(ODD)}, map=SAID, bonus="in")


def test_k_by_the_user_or_not_known(tmp_path):
    said = {"map": {"accepted": "got", "request": "who"}, "bonus": "out"}
    run = only(read_files(tmp_path / "said", {"x.csv": csv(ODD)}, **said, config={"k": 7}))
    assert counts(run) == OUTCOMES
    run = only(read_files(tmp_path / "not", {"x.csv": csv(ODD)}, **said))
    assert (run.granularity, run.k, codes(run)) == (Granularity.RESPONSE, None, ["k_unknown"])
    row = metrics.run_rows(run, {}.get)[0][-1]
    assert (row["tau"], row["p"], row["acceptance_ratio"]) == (TAU, None, None)
    with pytest.raises(InputError, match="line 3: an accepted length cannot be; found 7; expected 0 to 5: 5 drafted"):
        read_files(tmp_path / "small", {"x.csv": csv(ODD)}, **said, config={"k": 5})


def test_nobody_knows_whose_steps(tmp_path):
    run = only(read_files(tmp_path, {"x.csv": csv(ODD)}, map={"accepted": "got", "drafted": "n"}, bonus="out"))
    assert (run.granularity, codes(run)) == (Granularity.AGGREGATE, ["responses_unknown"])
    (row,) = run.counters.rows(named=True)
    assert (row["steps"], row["drafted"], row["accepted"]) == (4, 28, 15)
    assert row["per_position"] == [3, 3, 3, 2, 2, 1, 1] and row["block"] == 7


def test_a_row_number_is_no_response(tmp_path):
    rows = [(number, k, a) for number, (_, k, a) in enumerate(STEPS)]
    run = only(read_files(tmp_path, {"x.csv": csv(("id", "dataset", *ODD[1:]), [(n, "d", k, a) for n, k, a in rows])},
               map={"accepted": "got", "drafted": "n"}, bonus="out"))  # fmt: skip
    assert codes(run) == ["one_step_each"]


def test_without_a_header(tmp_path):
    rows = [("r1", "x", 7, 3), ("r1", "x", 7, 7)]
    content = csv(rows[0], rows[1:])
    assert unsaid(tmp_path / "ask", {"x.csv": content}).columns == ("column 1", "column 2", "column 3", "column 4")
    said = {"map": {"accepted": "column 4", "drafted": "column 3", "request": "column 1"}, "bonus": "out"}
    assert counts(only(read_files(tmp_path, {"x.csv": content}, **said))) == {(0, 7, 3): 1, (0, 7, 7): 1}


def test_what_the_user_says_wins(tmp_path):
    names = ("request_id", "drafted", "accepted", "accepted_valid")
    rows = [("r1", 7, 4, 3), ("r1", 7, 7, 7)]
    run = only(read_files(tmp_path, {"x.csv": csv(names, rows)}, map={"accepted": "accepted_valid"}, bonus="out"))
    assert counts(run) == {(0, 7, 3): 1, (0, 7, 7): 1}
    none = {"map": {"accepted": "accepted_valid", "drafted": ""}, "bonus": "out", "config": {"k": 8}}
    assert counts(only(read_files(tmp_path / "none", {"x.csv": csv(names, rows)}, **none))) == {
        (0, 8, 3): 1,
        (0, 8, 7): 1,
    }


def test_what_the_user_says_cannot_be(tmp_path):
    with pytest.raises(InputError, match=r"no table has all columns of --map; expected gott$"):
        read_files(tmp_path / "a", {"x.csv": csv(ODD)}, map={"accepted": "gott"})
    with pytest.raises(InputError, match="--map: no column can be tokens; expected accepted, "):
        read_files(tmp_path / "b", {"x.csv": csv(ODD)}, map={"tokens": "got"})
    with pytest.raises(InputError, match="column got is twice there"):
        read_files(tmp_path / "c", {"x.csv": csv(("who", "got", "got"))}, map={"accepted": "got"})


def test_separators_that_both_fit(tmp_path):
    with pytest.raises(InputError, match="nothing that can be read"):
        read_files(tmp_path, {"x.txt": "a,b;c,d\n1,2;3,4\n"})
    rows = [("r1, or so", 7, 3), ("r1, or so", 7, 7)]
    assert len(counts(only(read_files(tmp_path / "text", {"x.csv": csv(NAMES, rows, ";")})))) == 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("r1;7", "wrong number of columns; found 2"),
        ("r1;7;x", "accepted is not a count; found x"),
        ("r1;7;", "accepted is empty"),
        ("r1;7;2.5", "accepted is not a count"),
        ("r1;7;8", "an accepted length cannot be; found 8; expected 0 to 7: 7 drafted"),
        ("r1;65;8", "drafted is not a count; found 65"),
        ("r1;;8", "drafted is empty"),
    ],
)
def test_a_row_that_is_wrong_is_named(tmp_path, row, said):
    content = csv(NAMES, separator=";") + row + "\nr2;7;1\n"
    with pytest.raises(InputError) as error:
        read_files(tmp_path, {"x.csv": content})
    assert str(error.value).startswith(f"x.csv, line 6: {said}")


def test_truth_is_no_count(tmp_path):
    rows = [{"request_id": "a", "drafted": 1, "accepted": 1}, {"request_id": "a", "drafted": 1, "accepted": True}]
    with pytest.raises(InputError, match="line 2: accepted is not a count"):
        read_files(tmp_path, {"x.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})


# ---- beside other files


def test_shards_are_one_table(tmp_path):
    shards = {"x.part0.tsv": csv(NAMES, STEPS[:2], "\t"), "x.part1.tsv": csv(("accepted", "drafted", "request_id"),
              [row[::-1] for row in STEPS[2:]], "\t")}  # fmt: skip
    assert counts(only(read_files(tmp_path, shards))) == OUTCOMES


def test_a_table_beside_a_log_is_told_not_read(tmp_path):
    log = csv(NAMES)
    made_of_it = csv(("dataset", "drafts", "accepted"), [("a", 4, 15)])
    run = only(read_files(tmp_path, {"run/spec_log.csv": log, "run/by_dataset.csv": made_of_it}))
    assert counts(run) == OUTCOMES and run.semantics is None
    assert any("run/by_dataset.csv" in warning.message for warning in run.warnings)


def test_a_log_with_responses_a_row_is_no_log_of_steps(tmp_path):
    names = ("id", "num_steps", "draft_tokens", "accepted")
    run = only(read_files(tmp_path, {"x.csv": csv(names, [("r1", 2, 14, 10), ("r2", 2, 14, 5)])}))
    assert run.granularity is Granularity.RESPONSE and tau(run) == TAU


def test_of_several_tables_those_that_fit_are_read(tmp_path):
    files = {"a/x.csv": csv(ODD), "b/x.csv": csv(ODD, STEPS[:2]), "c/other.csv": "x,y\n1,2\n"}
    runs = read_files(tmp_path, files, map=SAID, bonus="out")
    assert sorted(runs) == ["a", "b"]
    assert any("c/other.csv" in warning.message for warning in runs["a"].warnings)
