"""A job that asks: it waits with its input, goes on with the answer, and leaves nothing behind."""

import time

import pytest

from specdash.ingest import Options
from specdash.ingest.jobs import Jobs, State
from specdash.ingest.preview import preview
from specdash.schema import InputError
from specdash.store import Store

TABLE = b"who,n,got\nr1,7,3\nr1,7,7\nr2,7,0\nr2,7,5\n"
ANSWER = Options.of({"map": {"accepted": "got", "drafted": "n", "request": "who"}, "bonus": "out"})
LISTS = b'{"id": "r1", "per_step_accepted": [3, 7]}\n{"id": "r2", "per_step_accepted": [0, 5]}\n'


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "home")


@pytest.fixture
def jobs(store):
    return Jobs(store)


def waited(jobs):
    deadline = time.monotonic() + 120
    while jobs.all()[0].state.active and time.monotonic() < deadline:
        time.sleep(0.02)
    return jobs.all()[0]


def left(store):
    return [path.name for path in (store.root / "tmp").glob("*") if path.is_dir()]


def test_a_table_is_asked_about_and_read_with_the_answer(store, jobs):
    jobs.submit("x.csv", [TABLE])
    job = waited(jobs)
    assert (job.state, job.question.asks, job.question.columns) == (State.ASKING, "map", ("who", "n", "got"))
    assert job.question.rows[0] == (2, ("r1", "7", "3"))
    assert not store.list()
    assert jobs.submit("again.csv", [TABLE]) == job  # the same bytes: the same question
    jobs.answer(job.key, ANSWER)
    job = waited(jobs)
    assert (job.state, job.error) == (State.DONE, None)
    evaluation = store.open(job.evaluation)
    assert evaluation.options == ANSWER.as_dict()
    assert evaluation.runs[0].counts["accepted"].to_list() == [3, 7, 0, 5]
    assert not left(store)


def test_an_answer_that_cannot_be_is_asked_again(store, jobs):
    job = jobs.submit("x.csv", [TABLE])
    waited(jobs)
    wrong = Options.of({"map": {"accepted": "n", "drafted": "got", "request": "who"}, "bonus": "out"})
    jobs.answer(job.key, wrong)
    asking = waited(jobs)
    assert asking.state is State.ASKING
    assert asking.error.startswith("x.csv, line 2: an accepted length cannot be; found 7; expected 0 to 3")
    jobs.answer(job.key, ANSWER)
    assert waited(jobs).state is State.DONE


@pytest.mark.parametrize(("answer", "k"), [(Options({"k": 7}), 7), (Options(), None)])
def test_k_is_asked_though_it_can_be_done_without(store, jobs, answer, k):
    job = jobs.submit("x.jsonl", [LISTS])
    asking = waited(jobs)
    assert (asking.state, asking.question.asks) == (State.ASKING, "k")
    jobs.answer(job.key, answer)
    job = waited(jobs)
    assert job.state is State.DONE
    assert store.open(job.evaluation).runs[0].k == k


@pytest.mark.parametrize("end", ["cancel", "dismiss"])
def test_a_question_that_nobody_answers(store, jobs, end):
    job = jobs.submit("x.csv", [TABLE])
    waited(jobs)
    assert left(store)
    getattr(jobs, end)(job.key)
    assert not left(store)
    jobs.answer(job.key, ANSWER)
    assert not any(found.state.active for found in jobs.all())
    assert jobs.submit("x.csv", [TABLE]).state is State.QUEUED
    assert waited(jobs).state is State.ASKING


def test_a_preview_reads_the_rows_as_the_whole_will_be(jobs):
    jobs.submit("x.csv", [TABLE])
    question = waited(jobs).question
    run = preview(question, ANSWER)
    assert (run.k, run.responses.height, run.counts["accepted"].sum()) == (7, 2, 15)
    with pytest.raises(InputError, match="line 4: an accepted length cannot be; found 0"):
        preview(question, Options.of(ANSWER.as_dict() | {"bonus": "in"}))
