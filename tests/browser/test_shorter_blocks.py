"""Measured curves on Shorter blocks: a golden YAML that is dropped, and the same prompts at another block length."""

import pytest
from playwright.sync_api import expect

from specdash import ingest
from specdash.store import Store
from tests import evaluations
from tests.browser.conftest import watched
from tests.browser.test_figures import drawn

CURVE = "# dataset: coding\nsmall-model:\n  on:\n    1: 1.84\n    2: 2.51\n    3: 2.40\n"
MEASURED = "Measured at other block lengths"


@pytest.fixture(scope="module")
def two_lengths(start, tmp_path_factory):
    """A server whose library holds the same prompts answered with blocks of 3 and of 5 tokens, and its id."""
    folder = tmp_path_factory.mktemp("lengths")
    store = Store(folder / "home")
    files = {}
    for k in (3, 5):
        responses = evaluations.responses_of(["gsm8k", "alpaca"], k=lambda _, k=k: k)
        files |= evaluations.run_files(responses, f"k{k}")
    id = ingest.add(evaluations.Built("lengths.zip", files).write(folder), store).id
    store.set_started()
    return start(store.root).wait(), id


@pytest.fixture
def tab(two_lengths, open_tab):
    server, id = two_lengths
    for watch in watched(server):
        yield open_tab(watch).open("shorter_blocks", eval=id, run="k5")


def test_the_same_prompts_at_another_length_stand_beside_the_implied_ones(tab):
    cells = tab.cells(MEASURED)
    assert cells[0] == ["dataset", "family", "measured run", "K", "τ measured", "τ implied here", "implied is off by",
                        "prompts"]  # fmt: skip
    assert [(row[0], row[2], row[3], row[-1]) for row in cells[1:]] == [
        ("gsm8k", "k3", "3", "the same 3"),
        ("alpaca", "k3", "3", "the same 3"),
        ("pooled", "k3", "3", "the same 6"),
    ]
    figure = drawn(tab, "tau_by_block")
    points = {trace["name"]: trace["points"] for trace in figure["traces"]}
    assert points["gsm8k"] == points["alpaca"] == points["pooled"] == 5
    for name in ("gsm8k", "alpaca", "pooled"):  # one block length was measured: a point each
        assert points[f"lengths, {name}"] == 1


def test_a_dropped_curve_is_chosen_drawn_and_in_the_link(tab, two_lengths, open_tab, tmp_path):
    (tmp_path / "golden.yaml").write_text(CURVE)
    tab.switch("")
    tab.upload(tmp_path / "golden.yaml")
    expect(tab.job("golden.yaml").get_by_text("Read and stored.")).to_be_visible()
    server, id = two_lengths
    golden = next(entry.id for entry in server.store.list() if entry.id != id)
    tab.switch("shorter_blocks")
    tab.select("_beside", f"golden · {golden}")
    expect(tab.table(MEASURED, 6)).to_be_visible()
    tab.carries(eval=id, run="k5", beside=golden)
    other = open_tab(server, viewport={"width": 1280, "height": 900}).goto(tab.page.url)
    assert [(*row[:1], row[3], float(row[4])) for row in other.cells(MEASURED) if row[0] == "coding"] == [
        ("coding", "1", 1.84),
        ("coding", "2", 2.51),
        ("coding", "3", 2.4),
    ]
    curve = next(trace for trace in drawn(other, "tau_by_block")["traces"] if "coding" in trace["name"])
    assert curve["points"] == 3
    described = other.page.locator(".st-key-tau_by_block").get_by_role("figure").get_attribute("aria-label")
    assert described.endswith("coding: another workload.")
