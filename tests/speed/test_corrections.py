"""The corrections shown on the Methods page hold: every right value in them is computed here."""

import re

import pytest

from specdash.speed.corrections import CORRECTIONS
from specdash.speed.latency import welch_from_summary
from specdash.speed.speedup import AUTOREGRESSIVE, BLOCK, DOCUMENTED, IID, tokens_of_ratio

BY_TOPIC = {correction.what: correction for correction in CORRECTIONS}
EXAMPLE = welch_from_summary(1420, 180, 32, 1180, 150, 32)


def numbers(text):
    return [float(found.replace("−", "-")) for found in re.findall(r"[-−]?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def test_worked_example():
    assert float(BY_TOPIC["p of the worked example"].correct) == pytest.approx(EXAMPLE.p, rel=2e-3)
    assert BY_TOPIC["degrees of freedom of the worked example"].correct == f"{EXAMPLE.df:.2f}"
    gain = BY_TOPIC["gain of the worked example"]
    assert numbers(gain.correct) == [round(EXAMPLE.speedup, 3), 95, round(EXAMPLE.low, 3), round(EXAMPLE.high, 3)]
    lower, delta, _, low, high = numbers(gain.reason)
    assert (delta, low, high) == (-240, round(EXAMPLE.delta_low, 1), round(EXAMPLE.delta_high, 1))
    assert lower == round(-100 * EXAMPLE.change, 1)


def test_speed_ups():
    at = (0.8, 5, 0.15)
    shown = BY_TOPIC["speed-up at α 0.8, k 5, c 0.15"]
    assert shown.documented == f"{DOCUMENTED.value(*at):.3f}"
    assert numbers(shown.correct) == [round(float(form.value(*at)), 3) for form in (AUTOREGRESSIVE, BLOCK, IID)]
    assert f"it is −{-DOCUMENTED.value(0, 10, 0.15):.2f}" in BY_TOPIC["speed-up"].reason


def test_break_even():
    shown = BY_TOPIC["break-even α at k 5, c 0.15"]
    assert float(shown.documented) == pytest.approx(DOCUMENTED.break_even(5, 0.15).value)
    found = [round(form.break_even(5, 0.15).value, 3) for form in (AUTOREGRESSIVE, BLOCK, IID)]
    assert numbers(shown.correct) == found


def test_tokens_per_step():
    assert "from 2.0 at τ 2 to 1.25 at τ 5" in BY_TOPIC["tokens per step"].reason
    assert [tau / (tau - 1) for tau in (2, 5)] == [2, 1.25]
    assert tokens_of_ratio(0.405, 7) == pytest.approx(3.835)


def test_efficiency():
    share = float(AUTOREGRESSIVE.value(0.8, 5, 0.15)) / float(DOCUMENTED.value(0.8, 5, 0.15))
    assert f"{100 * share:.0f} %" in BY_TOPIC["observed / speed-up below 0.6"].reason


def test_every_entry_says_why():
    for correction in CORRECTIONS:
        assert correction.documented != correction.correct
        assert correction.reason.endswith(".")
