"""The words of the canonical tables: errors that say where and what, granularities, evaluations."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.schema import Evaluation, Granularity, InputError, Mapping, RunWarning, legible
from tests.helpers import counter_run, counters

text = st.text(st.characters(codec=None), max_size=40)


def message(*args, **fields):
    return str(InputError(*args, **fields))


def test_an_error_says_where_what_found_and_expected():
    error = InputError("is no count", file="a/log.csv", line=3, found="seven", expected="a whole number")
    assert str(error) == "a/log.csv, line 3: is no count; found seven; expected a whole number"
    assert (error.problem, error.file, error.line) == ("is no count", "a/log.csv", 3)
    assert (error.found, error.expected) == ("seven", "a whole number")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "is bad"),
        ({"file": "x.zip"}, "x.zip: is bad"),
        ({"line": 2}, "line 2: is bad"),
        ({"found": 0}, "is bad; found 0"),
        ({"found": False}, "is bad; found False"),
        ({"found": [1, "a"]}, "is bad; found [1, 'a']"),
        ({"found": 1.5, "expected": "2"}, "is bad; found 1.5; expected 2"),
        ({"found": None, "expected": "2"}, "is bad; expected 2"),
        ({"file": "x.zip", "expected": "2"}, "x.zip: is bad; expected 2"),
    ],
)
def test_parts_that_are_not_known_are_left_out(fields, expected):
    assert message("is bad", **fields) == expected


def test_an_error_is_on_one_line():
    found = message("is\nbad", file="a\nb", found="c\r\nd", expected="e\u2028f\x0bg\x85h")
    assert found == "a b: is bad; found c\\r\\nd; expected e f g h"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("bell\x07", "bell\\x07"),
        ("nul\0", "nul\\x00"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\udcff", "\\udcff"),
        ("tab\there", "tab\\there"),
        ("é 两 😀", "é 两 😀"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_what_was_found_is_printable(raw, shown):
    assert message("is bad", found=raw) == f"is bad; found {shown}"


def test_bytes_and_lists_are_shown_as_python_writes_them():
    assert message("is bad", found=b"PK\x03\xff") == "is bad; found b'PK\\x03\\xff'"
    assert message("is bad", found=["\x1b"]) == "is bad; found ['\\x1b']"


@pytest.mark.parametrize("field", ["problem", "file", "expected"])
@pytest.mark.parametrize(
    ("raw", "shown"), [("a\x1b[31mb", "a\\x1b[31mb"), ("\u202ea", "\\u202ea"), ("\udcff", "\\udcff")]
)
def test_names_from_the_input_are_printable_wherever_they_stand(field, raw, shown):
    # A dataset's name in the problem, a file's name.
    found = message(**{"problem": "is bad", field: raw})
    assert shown in found
    assert found.isprintable()


@given(text, st.none() | text, st.none() | text, st.none() | text)
def test_every_error_can_be_printed_on_one_line(problem, file, found, expected):
    shown = message(problem, file=file, line=1, found=found, expected=expected)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown


def test_long_findings_are_cut():
    assert message("is bad", found="x" * 100) == "is bad; found " + "x" * 100
    cut = InputError("is bad", found="x" * 10_000).found
    assert cut == "x" * (len(cut) - 1) + "…"
    assert len(InputError("is bad", found="\0" * 10_000).found) == len(cut) < 500


@pytest.mark.parametrize("found", [None, "seven\x1b", [1, "a"], "y" * 500])
@pytest.mark.parametrize("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_an_error_survives_pickling(found, copied):
    error = InputError("is bad", file="f", line=9, found=found, expected="e")
    again = copied(error)
    assert type(again) is InputError
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_an_error_is_an_exception_with_its_message():
    with pytest.raises(InputError, match=r"^f: is bad$") as caught:
        raise InputError("is bad", file="f")
    assert caught.value.args == ("f: is bad",)


def test_a_finer_granularity_allows_what_a_coarser_one_does():
    order = [Granularity.STEP, Granularity.RESPONSE, Granularity.AGGREGATE, Granularity.RATES]
    for i, one in enumerate(order):
        for j, needed in enumerate(order):
            assert one.allows(needed) == (i <= j)


def test_a_mapping_in_words():
    assert str(Mapping(matched=29_000, total=30_296, absent=4)) == "29,000 of 30,296 match, 4 absent"


def evaluation(*runs):
    return Evaluation("0" * 12, "title", "in.zip", "0" * 64, runs)


def test_a_run_by_its_name():
    a, b = (counter_run(counters(1, accepted=1), name=name) for name in "ab")
    assert evaluation(a, b).run("b") is b
    with pytest.raises(InputError, match=r"in\.zip: no such run; found c; expected a or b"):
        evaluation(a, b).run("c")


def test_what_the_user_said_wins_over_the_files():
    run = counter_run(counters(1, accepted=1), config={"k": 5, "model": "m"}, config_set={"k": 7})
    assert run.effective_config == {"k": 7, "model": "m"}
    assert run.config == {"k": 5, "model": "m"}


def test_warnings_are_values():
    assert RunWarning("code", "message") == RunWarning("code", "message")
    assert len({RunWarning("code", "message"), RunWarning("code", "message")}) == 1


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("a\x1b[31mb\u202ec", "a [31mb c"), ("👩\u200d👧", "👩\u200d👧"), ("می\u200cخواهم", "می\u200cخواهم")],
)
def test_legible_text_keeps_what_letters_are_joined_with(raw, shown):
    assert legible(raw) == shown
