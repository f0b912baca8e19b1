"""A read-only library gives everything away and takes nothing in, whoever asks its functions."""

import pytest

from specdash import ingest
from specdash.ingest.jobs import Jobs
from specdash.schema import InputError
from specdash.store import Store, is_read_only
from tests import evaluations

REFUSED = "this library is read-only: nothing can be added, changed or removed here"


@pytest.fixture
def filled(tmp_path):
    """A library with one evaluation, its id, and another evaluation as a file."""
    path = evaluations.one_response().write(tmp_path)
    id = ingest.add(path, Store(tmp_path / "home")).id
    return tmp_path / "home", id, evaluations.two_datasets().write(tmp_path)


def below(folder):
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()}


def test_nothing_is_added_changed_or_removed(filled):
    home, id, other = filled
    before = below(home)
    store = Store(home, read_only=True)
    evaluation = store.open(id)
    attempts = [
        lambda: ingest.add(other, store),
        lambda: store.add(evaluation),
        lambda: store.annotate(id, title="another"),
        lambda: store.annotate(id, config={"single": {"k": 3}}),
        lambda: store.remove(id),
        lambda: store.keep_checks(ingest.checked(evaluation)),
        lambda: Jobs(store).submit("x.zip", [other.read_bytes()]),
    ]
    for attempt in attempts:
        with pytest.raises(InputError) as refused:
            attempt()
        assert str(refused.value) == REFUSED
    assert below(home) == before


def test_everything_is_given_away(filled, tmp_path):
    home, id, _ = filled
    store = Store(home, read_only=True)
    assert [entry.id for entry in store.list()] == [id]
    assert store.open(id).id == id
    assert store.export(id, tmp_path / "export.zip").stat().st_size > 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, False) for value in (None, "", "0", "false", "No")),
        *((value, True) for value in ("1", "true", " yes ")),
    ],
)
def test_what_the_variable_says(value, expected):
    assert is_read_only({} if value is None else {"SPECDASH_READ_ONLY": value}) is expected
