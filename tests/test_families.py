"""Families of datasets: the known names, and a file that wins over them."""

import pytest

from specdash import families
from specdash.schema import InputError
from tests.helpers import report_table


@pytest.fixture
def file(tmp_path):
    """A function that writes a families file and returns the loaded map."""

    def write(text):
        path = tmp_path / "families.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return families.load(path)

    return write


@pytest.mark.parametrize(
    ("name", "family"),
    [(name, row["family"]) for name, row in report_table("table1_acceptance_length").items() if row["family"]],
)
def test_datasets_of_the_report(name, family):
    assert families.load()(name) == family


@pytest.mark.parametrize(
    ("category", "family"),
    [
        ("coding", "code"),
        ("humanities", "chat"),
        ("math", "math"),
        ("multilingual", "chat"),
        ("qa", "chat"),
        ("rag", "chat"),
        ("reasoning", "chat"),
        ("roleplay", "chat"),
        ("stem", "chat"),
        ("summarization", "chat"),
        ("writing", "chat"),
    ],
)
def test_categories_of_speed_bench(category, family):
    assert families.load()(category) == family


@pytest.mark.parametrize(
    "name",
    ["mt-bench", "MT-Bench", "mt_bench", "MTBENCH", "mt bench", "mt.bench", "mt--bench", " mt-bench ", "mt\tbench"],
)
def test_case_dashes_and_blanks_do_not_matter(name):
    assert families.load()(name) == "chat"


@pytest.mark.parametrize("name", ["", "-", "gsm8", "gsm8k2", "x-gsm8k", "mt/bench", "pooled", "other", "😀"])
def test_unknown_names_have_no_family(name):
    assert families.load()(name) is None


def test_a_plus_is_part_of_the_name():
    family_of = families.load()
    assert family_of("HumanEval+") == family_of("humaneval") == "code"
    assert family_of("gsm8k+") is None


def test_a_file_extends_and_overrides(file):
    family_of = file('chat = ["GSM_8K"]\nlegal = ["Contract QA"]\n"两" = ["é"]\n')
    assert family_of("gsm8k") == "chat"
    assert family_of("contract-qa") == "legal"
    assert family_of("É") == "两"
    assert family_of("math500") == "math"
    assert families.load()("gsm8k") == "math"  # nothing was changed for others


@pytest.mark.parametrize("text", ["", "# nothing\n", "empty = []\n"])
def test_a_file_that_adds_nothing(file, text):
    assert file(text)("gsm8k") == "math"


@pytest.mark.parametrize("where", ["missing.toml", "."])
def test_the_file_may_not_exist(tmp_path, where):
    assert families.load(tmp_path / where)("gsm8k") == "math"


@pytest.mark.parametrize("text", ['math = ["a"', "math", 'math = ["a"]\nmath = ["b"]', "math = [a]"])
def test_not_toml(file, text):
    with pytest.raises(
        InputError, match=r"families\.toml: not valid TOML; found .+; expected lines like math"
    ) as caught:
        file(text)
    assert "\n" not in str(caught.value)


def test_not_utf8(file):
    with pytest.raises(InputError, match=r"families\.toml: "):
        file(b'math = ["caf\xe9"]')


@pytest.mark.parametrize("value", ['"gsm8k"', "1", "[1]", '["a", 2]', '[["a"]]', '{ a = "b" }', "true"])
def test_not_a_list_of_names(file, value):
    with pytest.raises(InputError, match=r"families\.toml: family math is not a list of dataset names; found "):
        file(f"math = {value}\n")


@pytest.mark.parametrize("again", ["new", "NEW", "n-e_w"])
def test_a_dataset_in_two_families(file, again):
    with pytest.raises(InputError, match=rf"families\.toml: dataset {again} is in two families"):
        file(f'math = ["new"]\ncode = ["{again}"]\n')


def test_a_dataset_twice_in_one_family_is_no_contradiction(file):
    assert file('math = ["new", "New"]')("new") == "math"
