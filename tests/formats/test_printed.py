import pytest

from specdash.formats import printed
from tests.formats.files import stored

DEEPSPEC = """
evaluating gsm8k | 100%
┌───────────┬──────────────┬─────────────┬──────────┬────────────┬─────────────┬───────────────┬───────────────┐
│  dataset  │ target_model │ draft_model │ #propose │ accept_len │ verify_rate │ accept_rate@0 │ accept_rate@1 │
├───────────┼──────────────┼─────────────┼──────────┼────────────┼─────────────┼───────────────┼───────────────┤
│   gsm8k   │    big/V4    │   small|x   │  6.98+1  │    4.97    │    0.622    │     0.912     │       -       │
│ humaneval │    big/V4    │   small|x   │    -     │     5      │      -      │     0.90      │     0.8       │
└───────────┴──────────────┴─────────────┴──────────┴────────────┴─────────────┴───────────────┴───────────────┘
done
""".replace("small|x", "small/x")  # a bar inside of a cell would be a column
GSM8K = {
    "dataset": "gsm8k",
    "target_model": "big/V4",
    "draft_model": "small/x",
    "mean_drafted": 6.98,
    "tau": 4.97,
    "verify_rate": 0.622,
    "p_exposed": [0.912, None],
    "decimals": {"tau": 2, "verify_rate": 3, "p_exposed": 3},
}
COPIES = """
+---------+-----------+-----------+------------+-----------+
| dataset | alen_mean | ratio_max | ratio_mean | ratio_min |
+---------+-----------+-----------+------------+-----------+
|  gsm8k  |   5.03    |  0.6586   |   0.5758   |  0.4926   |
+---------+-----------+-----------+------------+-----------+
"""


def read(folder, text):
    return printed.read(stored(folder, "results_table.txt", text))


def test_deepspec(tmp_path):
    first, second = read(tmp_path, DEEPSPEC)
    assert first == GSM8K
    assert (second["dataset"], second["mean_drafted"], second["tau"], second["verify_rate"]) == (
        "humaneval", None, 5.0, None,
    )  # fmt: skip
    assert second["p_exposed"] == [0.9, 0.8]
    assert second["decimals"] == {"tau": 0, "verify_rate": 0, "p_exposed": 2}


def _ascii(text):
    return text.translate(str.maketrans("┌┬┐├┼┤└┴┘─│", "+++++++++-|"))


@pytest.mark.parametrize(
    "text",
    [
        _ascii(DEEPSPEC),
        DEEPSPEC.translate(str.maketrans("│┌┐└┘─", "║╔╗╚╝═")),
        DEEPSPEC.translate(str.maketrans("│─", "┃━")),
        DEEPSPEC.replace("\n", "\r\n"),
        "\ufeff" + DEEPSPEC,
        DEEPSPEC.replace("│", "\x1b[1m│\x1b[0m"),
        DEEPSPEC.replace("\n", "\n   "),
        DEEPSPEC.strip(),
        "\n".join(line for line in DEEPSPEC.splitlines() if line.startswith("│")),
        DEEPSPEC + DEEPSPEC,
        (DEEPSPEC.partition("done")[0] + DEEPSPEC.partition("100%\n")[2]).replace("\n\n", "\n"),
        DEEPSPEC.replace("4.97", "4.90") + DEEPSPEC,  # printed again later: the last one counts
        DEEPSPEC.replace("dataset", "Dataset").replace("verify_rate", "Verify Rate"),
        "| a | b |\n| 1 | 2 |\n| loose\n\n" + DEEPSPEC,
    ],
)
def test_boxes(tmp_path, text):
    rows = read(tmp_path, text)
    assert rows[0] == GSM8K
    assert [row["dataset"] for row in rows] == ["gsm8k", "humaneval"]


def test_a_table_over_copies(tmp_path):
    (row,) = read(tmp_path, COPIES)
    assert row == {
        "dataset": "gsm8k", "alen_mean": 5.03, "ratio_max": 0.6586, "ratio_mean": 0.5758, "ratio_min": 0.4926,
        "decimals": {"alen_mean": 2, "ratio_max": 4, "ratio_mean": 4, "ratio_min": 4},
    }  # fmt: skip


@pytest.mark.parametrize("text", [DEEPSPEC + COPIES, COPIES + DEEPSPEC])
def test_both_tables_in_one_file(tmp_path, text):
    row = next(row for row in read(tmp_path, text) if row["dataset"] == "gsm8k")
    assert (row["tau"], row["alen_mean"], row["p_exposed"]) == (4.97, 5.03, [0.912, None])
    assert row["decimals"] == {"tau": 2, "verify_rate": 3, "p_exposed": 3} | {
        "alen_mean": 2, "ratio_max": 4, "ratio_mean": 4, "ratio_min": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("results_table.txt", b"whatever", True),
        ("results_table_2.txt", b"", True),
        ("eval.log", COPIES.encode(), True),
        ("eval.txt", DEEPSPEC.encode(), True),
        ("eval.md", COPIES.encode(), False),
        ("eval.txt", b"dataset accept_len", False),
    ],
)
def test_recognised(tmp_path, name, content, known):
    file = stored(tmp_path, name, content)
    assert (printed.FORMAT.named(file) or printed.FORMAT.looks(file)) == known
