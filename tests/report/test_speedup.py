"""The speed-up section: a run's own point, its table, the cards with the labels they must have."""

import pytest

from specdash.families import load
from specdash.report.sections import Subject, speedup
from specdash.report.sections.cards import cards
from specdash.report.sections.drafting import Drafting, own
from tests.helpers import log_run, rates_run, response, timed_run

# Five drafted a step, 2 of 5 accepted: τ 3, ratio 0.4.
CONSTANT = log_run([response((5, 2), (5, 2), dataset="gsm8k")])
VARIES = log_run([response((1, 1), (3, 0), (3, 2), dataset="gsm8k")])


def subject(run):
    return Subject.of(run, load(None))


def pooled(run):
    return subject(run).rows.datasets[-1]


def test_own_point():
    found = own(pooled(CONSTANT), 5, 5)
    assert (found.tau, found.drafted, found.ratio, found.implied) == (3, 5, 0.4, False)
    cut = own(pooled(CONSTANT), 1, 5)
    assert (cut.tau, cut.drafted, cut.implied) == (2, 1, True)
    assert own(pooled(CONSTANT), 6, 5) is None
    assert own({"tau": None}, 5, 5) is None


def test_own_point_where_drafts_vary():
    """K̄ = 7/3, τ = 2; cut at 1 every step drafts one and two of three accept it."""
    assert own(pooled(VARIES), 3, 3).drafted == pytest.approx(7 / 3)
    cut = own(pooled(VARIES), 1, 3)
    assert (cut.tau, cut.drafted) == (pytest.approx(5 / 3), pytest.approx(1))
    assert own(pooled(VARIES), 2, 3).drafted == pytest.approx(1 + 2 / 3)


def test_table_by_hand():
    """At c 0.15: documented 1 + 5 · 0.4 − 0.9, AR 3 / 1.75, block 3 / 1.15."""
    drafting = Drafting(k=5, c=0.15)
    table = speedup.table(drafting, 5)
    values = {column.key: column.value(pooled(CONSTANT)) for column in table.columns}
    assert values == pytest.approx(
        {
            "tau": 3,
            "ratio": 0.4,
            "autoregressive": 3 / 1.75,
            "block": 3 / 1.15,
            "documented": 2.1,
            "cost_limit_autoregressive": 0.4,
            "cost_limit_block": 2,
        }
    )
    assert table.note == "c = 0.15 is an assumption until drafter and target have been timed."
    assert "implied by cutting the blocks of 5" in speedup.table(Drafting(k=3), 5).note


def test_the_reference_of_the_report_at_its_rounding():
    """Pooled τ 3.835, K 7: the three numbers that are called α."""
    row = {"tau": 3.835, "drafted": 700, "steps": 100, "implied_alpha": 0.772, "dataset": "pooled", "family": None}
    found = own(row, 7, 7)
    shown = cards(row, found, Drafting(k=7))
    assert [reading.value for reading in shown[0].corrected] == ["0.405", "0.772"]
    assert shown[1].documented.value == "1.353"


def test_cards_carry_the_required_labels():
    row = pooled(CONSTANT)
    shown = cards(row, own(row, 5, 5), Drafting(k=5, observed=1.5))
    labels = {reading.label for card in shown for reading in (card.documented, *card.corrected)}
    assert labels >= {
        "tau (V1 counters)",
        "accept ratio (prefix) - not alpha",
        "implied alpha (geometric)",
        "S2 speed-up (as documented, not a speed-up)",
        "Speed-up, AR draft",
        "Speed-up, block draft",
    }
    for card in shown:
        assert "SeekSpeed" in card.documented.source
        assert all(reading.source for reading in card.corrected)
        assert card.reason.count("\n") == 0 and len(card.reason) < 120
    assert shown[-1].corrected[0].value == "57.5 %"  # 1.5 of 3 / 1.15
    assert len(cards(row, own(row, 5, 5), Drafting(k=5))) == len(shown) - 1


def test_an_implied_alpha_is_not_shown_for_a_block_that_was_not_run():
    row = pooled(CONSTANT)
    shown = cards(row, own(row, 3, 5), Drafting(k=3))
    assert shown[0].corrected[1].value == "–"


def test_nothing_accepted_is_no_division_by_zero():
    row = pooled(log_run([response((5, 0))]))
    shown = cards(row, own(row, 5, 5), Drafting(k=5, observed=0.9))
    assert shown[1].documented.value == "–"
    assert shown[2].documented.value == "0.100"


def draw(run, drafting, name="pooled"):
    about = subject(run)
    row = next((row for row in about.rows.datasets if row["dataset"] == name), None)
    parts = speedup.parts(about, drafting, row)
    return {part.name: part.draw("light") for part in parts if hasattr(part, "draw")}


@pytest.mark.parametrize("one_pass", [True, False])
@pytest.mark.parametrize("k", [1, 3, 5, 7, 64])
@pytest.mark.parametrize(
    "run",
    [
        CONSTANT,
        VARIES,
        log_run([response((5, 0))]),
        log_run([response((5, 5))]),
        rates_run({"dataset": "a", "tau": 3.0}),
        timed_run({"e2e_s": 1.0}),
    ],
    ids=["constant", "varies", "nothing", "everything", "printed", "latencies"],
)
def test_every_figure_of_every_run(run, k, one_pass):
    for chart in draw(run, Drafting(k=k, one_pass=one_pass, observed=1.2)).values():
        assert chart.caption.endswith(".") and "nan" not in chart.caption and "None" not in chart.caption
        assert not chart.data.is_empty()


def test_the_alphas_stay_on_their_own_axes():
    """No figure over one α holds a form that takes the other."""
    figures = draw(CONSTANT, Drafting(k=5))
    over_ratio, over_alpha = (set(figures[name].data["name"]) for name in ("speedup_ratio", "speedup_alpha"))
    assert not any("i.i.d." in name for name in over_ratio)
    assert "S2 speed-up (as documented, not a speed-up)" not in over_alpha
    own_alpha = figures["speedup_alpha"].data.filter(kind="run")
    assert own_alpha["speedup"].item() == pytest.approx(3 / 1.15)  # by construction of the implied α


def test_captions_say_where_it_breaks_even():
    figures = draw(CONSTANT, Drafting(k=5, c=0.15))
    assert figures["speedup_ratio"].caption == (
        "At k = 5 and c = 0.15, by accept ratio: an AR draft pays above 0.150, a block draft pays above 0.030 "
        "(crosses). The documented line pays above 0.180 and starts at 0.10: it is no speed-up."
    )
    assert "an AR drafter pays below a cost of 0.400" in figures["speedup_cost"].caption
    assert figures["speedup_alpha"].caption.startswith("At k = 5 and c = 0.15: AR draft pays above 0.432")
    assert figures["speedup_blocks"].caption.startswith("pooled, cut short, is fastest at K′ = 2 (2.61)")  # 3 / 1.15


ROW = {
    "dataset": "a", "family": None, "tau": 3.0, "tau_ci": [2.8, 3.2], "drafted": 500, "steps": 100,
    "implied_alpha": 0.7, "implied_alpha_ci": [0.68, 0.72],
    "tau_at_k": [1.6, 2.1, 2.5, 2.8, 3.0], "tau_at_k_ci": [[1.5, 1.7], [2.0, 2.2], [2.4, 2.6], [2.6, 3.0], [2.8, 3.2]],
    "p": [0.6, 0.5, 0.4, 0.3, 0.2], "p_exposed": [0.6, 0.5, 0.4, 0.3, 0.2],
}  # fmt: skip


def test_intervals_by_hand():
    """At c 0.2: AR τ / 2, block τ / 1.2; what is documented is no speed-up and has no interval."""
    table = speedup.table(Drafting(k=5, c=0.2), 5)
    ends = {column.key: column.ends(ROW) for column in table.columns}
    assert ends.pop("documented") is ends.pop("cost_limit_autoregressive") is ends.pop("cost_limit_block") is None
    assert ends == {
        "tau": [2.8, 3.2],
        "ratio": pytest.approx([0.36, 0.44]),
        "autoregressive": pytest.approx([1.4, 1.6]),
        "block": pytest.approx([2.8 / 1.2, 3.2 / 1.2]),
    }
    cut = {column.key: column.ends(ROW) for column in speedup.table(Drafting(k=2, c=0.2), 5).columns}
    assert cut["autoregressive"] == pytest.approx([2.0 / 1.4, 2.2 / 1.4])


def test_intervals_where_drafts_vary():
    """The mean draft length is an estimate too, so only what does not depend on it has an interval."""
    row = ROW | {"drafted": 400, "p_exposed": [0.6, 0.5, 0.5, 0.5, 0.4]}
    table = speedup.table(Drafting(k=5, c=0.2), 5)
    ends = {column.key: column.ends(row) for column in table.columns}
    assert ends["ratio"] is ends["autoregressive"] is None
    assert ends["block"] == pytest.approx([2.8 / 1.2, 3.2 / 1.2])


def test_cards_carry_intervals():
    shown = {card.title: card for card in cards(ROW, own(ROW, 5, 5), Drafting(k=5, c=0.2))}
    assert [reading.interval for reading in shown["Speed-up"].corrected] == ["1.400 to 1.600", "2.333 to 2.667"]
    assert [reading.interval for reading in shown["α"].corrected] == ["0.360 to 0.440", "0.680 to 0.720"]
    assert shown["Tokens per step"].corrected[0].interval == "2.800 to 3.200"
    assert all(card.documented.interval == "" for card in shown.values())
    lent = cards(ROW | {"interval_from": "other"}, own(ROW, 5, 5), Drafting(k=5, c=0.2))
    assert {card.title: card for card in lent}["Speed-up"].corrected[1].interval == "2.333 to 2.667, borrowed"
    bare = {key: value for key, value in ROW.items() if not key.endswith("_ci")}
    assert all(r.interval == "" for card in cards(bare, own(bare, 5, 5), Drafting(k=5)) for r in card.corrected)
