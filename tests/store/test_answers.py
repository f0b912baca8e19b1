"""What was said of a table is proposed for the next one with the same columns."""

from specdash.store import Store


def test_by_the_names_of_columns_in_any_order(tmp_path):
    answers = Store(tmp_path / "home").answers
    assert answers.recall(["a", "b"]) == {}
    answers.remember(["a", "b"], {"bonus": "in"})
    answers.remember(["a"], {"bonus": "out"})
    again = Store(tmp_path / "home").answers
    assert again.recall(["b", "a"]) == {"bonus": "in"}
    assert again.recall(["a"]) == {"bonus": "out"}
    again.remember(["b", "a"], {"bonus": "out"})
    assert answers.recall(["a", "b"]) == {"bonus": "out"}


def test_the_oldest_are_forgotten(tmp_path):
    answers = Store(tmp_path).answers
    for number in range(201):
        answers.remember([str(number)], {"map": {"accepted": str(number)}})
    assert answers.recall(["0"]) == {}
    assert answers.recall(["1"]) and answers.recall(["200"])


def test_a_damaged_file_is_as_none(tmp_path):
    store = Store(tmp_path)
    (tmp_path / "answers.json").write_bytes(b"\xff[")
    assert store.answers.recall(["a"]) == {}
    store.answers.remember(["a"], {"bonus": "in"})
    assert store.answers.recall(["a"]) == {"bonus": "in"}
