"""Requests to responses where log and samples do not fit perfectly."""

import json
import random
from dataclasses import replace

import pytest

import specdash
from tests.ingest.synthetic import DATASETS, PER_DATASET, Shape, responses, without_draws, write

ALL = len(DATASETS) * PER_DATASET
IDS = ["int", "uuid", "text"]


@pytest.fixture(scope="module")
def made():
    return responses()


def run_of(path):
    (run,) = specdash.load(path).document["runs"]
    return without_draws(run)


def warnings_of(run):
    return {warning["code"]: warning["message"] for warning in run["warnings"]}


def mapping(matched, total, absent):
    return {"matched": matched, "total": total, "absent": absent}


def with_steps_changed(made, numbers):
    """Return the responses, those of some numbers having accepted one token more or less in their first step."""
    changed = []
    for r in made:
        (k, a), *rest = r.steps
        steps = ((k, a + 1 if a < k else a - 1), *rest)
        changed.append(replace(r, steps=steps) if r.number in numbers else r)
    return changed


def written(folder, shape, logged, sampled):
    """Write a log of some responses and samples of others."""
    write(folder, shape.but(samples="none"), logged)
    other = folder.with_name("other")
    write(other, shape.but(absent=frozenset()), sampled)
    (other / "samples.jsonl").rename(folder / "samples.jsonl")
    return folder


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("sample_ids", [False, True])
def test_below_everything_it_warns(tmp_path, made, ids, sample_ids):
    wrong = {3, 40, 41, 77}
    shape = Shape(ids=ids, sample_ids=sample_ids)
    run = run_of(written(tmp_path / "run", shape, with_steps_changed(made, wrong), made))
    assert run["mapping"] == mapping(ALL - 2 - 4, ALL - 2, 2)
    assert [row["dataset"] for row in run["datasets"]] == [*DATASETS, "pooled"]
    assert [row["responses"] for row in run["datasets"]] == [35, 35, 36, 106]
    message = warnings_of(run)["mapping_incomplete"]
    logged = with_steps_changed(made, wrong)
    first = [
        f"request {shape.id_of(made[n])}: accepted {logged[n].accepted} in the log, {made[n].accepted} in the sample"
        for n in sorted(wrong)
    ]
    assert message == "4 of 106 requests do not match their sample: " + "; ".join(first[:3])
    assert warnings_of(run)["absent_requests"].startswith("2 responses have no rows in the log (1 of gsm8k, 1 of alp")


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("sample_ids", [False, True])
@pytest.mark.parametrize(("wrong", "refused"), [(5, False), (6, True)])
def test_below_95_percent_it_refuses(tmp_path, made, ids, sample_ids, wrong, refused):
    # 5 of 106 leave 95.3%, 6 leave 94.3%.
    numbers = set(range(4, 4 + 14 * wrong, 14))
    shape = Shape(ids=ids, sample_ids=sample_ids)
    run = run_of(written(tmp_path / "run", shape, with_steps_changed(made, numbers), made))
    assert run["mapping"]["total"] == 106
    assert run["mapping"]["matched"] == 106 - wrong
    assert ("mapping_refused" in warnings_of(run)) == refused
    if not refused:
        return
    assert [row["dataset"] for row in run["datasets"]] == ["run", "pooled"]
    assert [(row["prompts"], row["responses"]) for row in run["datasets"]] == [(None, 106)] * 2
    assert all(row["within_share"] is None and row["copy_std"] is None for row in run["datasets"])
    steps = [step for r in with_steps_changed(made, numbers) if r.number not in shape.absent for step in r.steps]
    assert run["datasets"][0]["steps"] == len(steps)
    assert run["datasets"][0]["tau"] == pytest.approx(1 + sum(a for _, a in steps) / len(steps), rel=1e-12)
    assert "100 of 106 match" in warnings_of(run)["mapping_refused"]


def test_no_samples_at_all(tmp_path, made):
    run = run_of(write(tmp_path / "my_run", Shape(samples="none"), made))
    assert run["mapping"] is None
    assert run["warnings"] == []
    assert [(r["dataset"], r["family"], r["prompts"], r["responses"]) for r in run["datasets"]] == [
        ("my_run", "other", None, 106),
        ("pooled", None, None, 106),
    ]


def test_samples_of_something_else(tmp_path, made):
    run = run_of(written(tmp_path / "run", Shape(ids="uuid"), made, responses(seed=99)))
    assert "mapping_refused" in warnings_of(run)
    assert [row["dataset"] for row in run["datasets"]] == ["run", "pooled"]


def warm_up(made, count, seed=3):
    """Return ``count`` requests that no sample knows, followed by the responses, numbered on."""
    extra = [replace(r, dataset="none") for r in responses(seed)[:count]]
    return [replace(r, number=number) for number, r in enumerate([*extra, *made])]


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("sample_ids", [False, True])
def test_requests_before_the_first_response(tmp_path, made, ids, sample_ids):
    logged = warm_up(made, 4)
    shape = Shape(ids=ids, sample_ids=sample_ids, absent=frozenset({20}))
    run = run_of(written(tmp_path / "run", shape, logged, logged[4:]))
    assert run["mapping"] == mapping(107, 111, 1)
    assert [row["dataset"] for row in run["datasets"]] == [*DATASETS, "(not in the samples)", "pooled"]
    assert [row["responses"] for row in run["datasets"]] == [35, 36, 36, 4, 111]
    first = ", ".join(f"request {shape.id_of(r)} has no sample" for r in logged[:3]).replace(", ", "; ")
    assert warnings_of(run)["mapping_incomplete"] == f"4 of 111 requests do not match their sample: {first}"
    assert warnings_of(run)["absent_requests"].startswith("1 responses have no rows in the log (1 of gsm8k")


@pytest.mark.parametrize("samples", ["one", "folder"])
@pytest.mark.parametrize("seed", range(5))
def test_several_absent_without_numbers(tmp_path, made, samples, seed):
    absent = frozenset(random.Random(seed).sample(range(ALL), 9))
    shape = Shape(ids="uuid", absent=absent, samples=samples)
    run = run_of(write(tmp_path / "run", shape, made))
    by_number = run_of(write(tmp_path / "run2", shape.but(ids="int", samples="one"), made))
    assert run["mapping"] == mapping(ALL - 9, ALL - 9, 9)
    assert run["datasets"] == by_number["datasets"]
    assert [row["responses"] for row in run["datasets"]] == [
        *(sum(r.dataset == dataset and r.number not in absent for r in made) for dataset in DATASETS),
        ALL - 9,
    ]


def test_numbers_without_gaps_where_requests_are_absent(tmp_path, made):
    """Where a server numbers only what it answers, the counts tell what is absent."""
    shape = Shape(absent=frozenset())
    present = [r for r in made if r.number not in {0, 30, 71}]
    logged = [replace(r, number=number) for number, r in enumerate(present)]
    run = run_of(written(tmp_path / "run", shape, logged, made))
    assert run["mapping"] == mapping(105, 105, 3)
    assert [row["responses"] for row in run["datasets"]] == [34, 35, 36, 105]


def test_numbers_count_more_than_a_match_by_chance(tmp_path, made):
    """Request 13 has the counts of response 14 by chance, request 14 those of none: the numbers still say which."""
    logged = list(made)
    logged[13] = replace(made[14], dataset=made[13].dataset, number=13)
    logged[14] = replace(made[14], steps=((7, 7),) * 40)
    run = run_of(written(tmp_path / "run", Shape(absent=frozenset()), logged, made))
    assert run["mapping"] == mapping(106, 108, 0)
    assert warnings_of(run)["mapping_incomplete"].startswith(
        "2 of 108 requests do not match their sample: request 113:"
    )
    assert [row["responses"] for row in run["datasets"]] == [36, 36, 36, 108]


def test_numbers_that_jump_between_datasets(tmp_path, made):
    logged = [replace(r, number=r.number + 1000 * DATASETS.index(r.dataset)) for r in made]
    run = run_of(written(tmp_path / "run", Shape(absent=frozenset({17})), logged, made))
    assert run["mapping"] == mapping(107, 107, 1)
    assert [row["responses"] for row in run["datasets"]] == [35, 36, 36, 107]


@pytest.mark.parametrize("ids", [*IDS, "padded"])
@pytest.mark.parametrize("samples", ["one", "folder"])
def test_ids_without_counts(tmp_path, made, ids, samples):
    names = ("prompt_id", "copy", "n1", "n2", "output_tokens", "request_id")
    shape = Shape(ids=ids, sample_ids=True, samples=samples, names=names)
    run = run_of(write(tmp_path / "run", shape, made))
    assert run["mapping"] == mapping(106, 106, 2)
    with_counts = run_of(write(tmp_path / "run2", Shape(ids=ids, sample_ids=True), made))
    assert run["datasets"] == with_counts["datasets"]
    assert "unchecked" in warnings_of(run)["counts_unchecked"]


def test_ids_that_are_those_of_something_else(tmp_path, made):
    """Samples may hold ids of another numbering: then position and counts decide."""
    log = write(tmp_path / "run", Shape(samples="none", ids="uuid"), made)
    samples = write(tmp_path / "other", Shape(ids="text", sample_ids=True, samples="folder"), made)
    for dataset in DATASETS:
        (samples / dataset).rename(log / dataset)
    run = run_of(log)
    assert run["mapping"] == mapping(106, 106, 2)
    assert [row["responses"] for row in run["datasets"]] == [35, 35, 36, 106]


@pytest.mark.parametrize(
    ("drafts", "text"), [(1, "[{0}.0]"), (1, '["{0}"]'), (1, '["0{0}"]'), (-1, "[{0}]"), (-1, '["{0}"]')]
)
def test_ids_written_otherwise(tmp_path, drafts, text):
    """A log of -101 … or 101 …, samples that spell the ids as numbers, floats or text."""
    lines, rows = [], []
    for i in range(101, 121):
        (id_,) = json.loads(text.format(drafts * i))
        rows.append(f"{drafts * i},7,{i % 8}\n")
        lines.append(json.dumps({"dataset": "d", "prompt": 1, "prompt_id": i, "request_id": id_, "num_drafts": 1}))
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "spec_log.csv").write_text("".join(rows))
    random.Random(1).shuffle(lines)
    (folder / "samples.jsonl").write_text("\n".join(lines))
    run = run_of(folder)
    assert run["mapping"] == mapping(20, 20, 0)
    assert "mapping_incomplete" not in warnings_of(run)


@pytest.mark.parametrize("decimals", [2, 4, 16])
def test_acceptance_length_instead_of_accepted_tokens(tmp_path, decimals):
    """A length printed to 2 decimals does not tell the tokens of a long response; it must not be taken to."""
    random_ = random.Random(5)
    rows, lines = [], []
    for number in range(60):
        steps = [random_.randint(0, 7) for _ in range(random_.randint(150, 400))]
        rows += [f"r{number},7,{a}\n" for a in steps]
        length = round(1 + sum(steps) / len(steps), decimals)
        lines.append({"dataset": "d", "prompt_id": number, "num_drafts": len(steps), "accept_len": length})
    del rows[: rows.index(next(row for row in rows if row.startswith("r1,")))]  # the first one is absent
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "spec_log.csv").write_text("".join(rows))
    (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert run_of(folder)["mapping"] == mapping(59, 59, 1)


def test_steps_without_draft_count_as_drafts_or_not(tmp_path):
    for count_them in (False, True):
        folder = tmp_path / f"run{count_them}"
        folder.mkdir()
        rows, lines = [], []
        for number in range(30):
            steps = [(7 * (i % (3 + number % 5) > 0), i % 2) for i in range(5 + number % 7)]
            steps = [(k, min(k, a)) for k, a in steps]
            rows += [f"q{number},{k},{a}\n" for k, a in steps]
            drafts = sum(k > 0 or count_them for k, _ in steps)
            lines.append({"task": "d", "qid": number, "drafts": drafts, "accepted": sum(a for _, a in steps)})
        (folder / "spec_log.csv").write_text("".join(rows))
        (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, lines)))
        assert run_of(folder)["mapping"] == mapping(30, 30, 0)


def test_large_log_with_many_mismatches(tmp_path):
    """30,000 requests without numbers, 1,400 of which do not match, 40 of which are absent."""
    random_ = random.Random(11)
    absent = set(range(0, 30_000, 750))
    wrong = set(random_.sample([n for n in range(30_000) if 1 < n % 750 < 749], 1400))  # not beside an absent one
    rows, lines = [], []
    for n in range(30_000):
        k = random_.randint(1, 64)
        steps = [random_.randint(0, k) for _ in range(3)]
        lines.append(
            json.dumps({"dataset": "d", "prompt_id": n // 10, "draft_tokens": 3 * k, "accepted": sum(steps)}) + "\n"
        )
        if n in wrong:
            steps[0] += 1 if steps[0] < k else -1
        if n not in absent:
            rows += [f"u{n},{k},{a}\n" for a in steps]
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "spec_log.csv").write_text("".join(rows))
    (folder / "samples.jsonl").write_text("".join(lines))
    run = run_of(folder)
    assert run["mapping"] == mapping(29_960 - 1400, 29_960, 40)
    assert [row["prompts"] for row in run["datasets"]] == [3000, 3000]
