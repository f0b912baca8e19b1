"""What the beginning of a file tells."""

import pytest

from specdash.formats import peek
from tests.formats.files import stored


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('{"a": {"b": [{"c": 1, "d": [1, 2]}], "e": 2}}', {"a", "a.b", "a.b[].c", "a.b[].d", "a.e"}),
        ('[{"x": {"y": 1}}, {"z": "q"}]', {"x", "x.y", "z"}),
        ('{"a": 1}\n{"b": "{\\"c\\": 2}"}\n', {"a", "b"}),
        ('data: {"a": 1}\n\ndata: {"b": {"c', {"a", "b"}),
        ("no JSON", set()),
        ("{broken", set()),
        ("}}]]", set()),
    ],
)
def test_names(tmp_path, content, names):
    assert peek.names(stored(tmp_path, "x", content)) == names


def test_marks_far_into_a_file(tmp_path):
    file = stored(tmp_path, "x", b"a" * ((1 << 20) - 3) + b"needle" + b"b" * 100)
    assert peek.reaches(file, b"needle")
    assert not peek.reaches(file, b"other")
    assert not peek.reaches(file, b"needle", size=1 << 19)
