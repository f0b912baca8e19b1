"""Identities that hold for every sound log: broken ones mean that its counts are not of the same steps.

source: metrics.py of vLLM for what the counters count; Leviathan et al. 2023 for τ = 1 + Σ p_i.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl

from specdash.checks import words
from specdash.checks.registry import Result, check, failed, idle, passed, warned
from specdash.checks.subject import Subject
from specdash.schema import Granularity

_NEAR_INTEGER = 0.06
"""Largest distance of a ratio to a whole number that is taken for that number of engines: loads are not quite even."""

_MOST_ENGINES = 64


@check(
    "outcome_sums",
    title="Outcome sums",
    meaning="Every step has exactly one outcome and belongs to a response; an ordered log has as many rows as are "
    "counted. Where not, shares of steps mean nothing.",
    cause="A damaged file, or counters of one server read at different moments.",
    needs=Granularity.AGGREGATE,
)
def _outcome_sums(subject: Subject) -> Result:
    if subject.run.counters is not None:
        return _outcomes_of_counters(subject.run.counters)
    if subject.run.counts is None:
        return idle("no outcome counts")
    return _outcomes_of_log(subject)


def _outcomes_of_log(subject: Subject) -> Result:
    counts = subject.run.counts
    counted, impossible = counts["steps"].sum(), counts.filter(pl.col("steps") < 1).height
    if impossible:
        return failed(f"{words.plural(impossible, 'outcome')} with less than one step")
    orphans = counts.join(subject.run.responses, on="response", how="anti")["steps"].sum()
    if orphans:
        return failed(f"{orphans:,} of {counted:,} steps belong to no response")
    if subject.steps is not None:
        rows = subject.steps.select(pl.len()).collect().item()
        if rows != counted:
            return failed(f"the ordered log has {rows:,} rows, {counted:,} are counted")
    if subject.run.sums is not None:
        summed = counts.group_by("response").agg(counted=pl.col("steps").sum())
        wrong = subject.run.sums.join(summed, on="response").filter(pl.col("counted") != pl.col("steps"))
        if wrong.height:
            row = wrong.row(0, named=True)
            return failed(
                f"{words.plural(wrong.height, 'response')} whose outcomes do not sum to the steps, such as "
                f"{row['counted']:,} of {row['steps']:,}"
            )
    return passed(f"{counted:,} steps")


def _outcomes_of_counters(counters: pl.DataFrame) -> Result:
    known, wrong = 0, []
    for row in counters.iter_rows(named=True):
        if row["per_position"] is None or row["steps"] is None:
            continue
        known += row["steps"]
        survivors = [row["steps"], *row["per_position"], 0]
        outcomes = [a - b for a, b in pairwise(survivors)]
        wrong += [
            f"{words.name(row['dataset'])}: {n:,} steps that accepted {j}" for j, n in enumerate(outcomes) if n < 0
        ]
    if wrong:
        return failed(words.listed(wrong))
    return passed(f"{known:,} steps") if known else idle("no counts by position")


@check(
    "tau_identity",
    title="τ against 1 + Σ p",
    meaning="The acceptance length and the rates by position are of the same steps. An integer factor between them "
    "means that one of the two counts one of several engines only.",
    cause="Data-parallel engines: rates of one engine divided by the drafts of all, or the reverse.",
    needs=Granularity.RATES,
)
def _tau_identity(subject: Subject) -> Result:
    if subject.run.rates is not None:
        return _identity_of_rates(subject.run.rates.iter_rows(named=True), subject.run.printed)
    wrong, largest = [], None
    for dataset, tally in subject.tallies.items():
        if tally.hits is None:
            continue
        positions = int(tally.hits.sum())
        largest = max(largest or 0, abs(tally.accepted - positions))
        if tally.accepted != positions and tally.steps:
            stated, summed = 1 + tally.accepted / tally.steps, 1 + positions / tally.steps
            factor = _engines(tally.accepted, positions)
            wrong.append(f"{words.name(dataset)}: τ = {stated:.3f}, 1 + Σ p = {summed:.3f}{factor}")
    if wrong:
        return failed(words.listed(wrong))
    return idle("no counts by position") if largest is None else passed("exact in every dataset")


def _engines(whole: float, part: float) -> str:
    """Return what a near-integer factor between two counts of the same tokens says; nothing when there is none."""
    large, small = max(whole, part), min(whole, part)
    factor = round(large / small) if small > 0 else 0
    if not 2 <= factor <= _MOST_ENGINES or abs(large / small - factor) > _NEAR_INTEGER:
        return ""
    few, many = ("p", "τ") if whole > part else ("τ", "p")
    return f", a factor of {factor}: {few} counts one of {factor} engines, or {many} counts each {factor} times"


def _identity_of_rates(rates: Any, printed: tuple[dict[str, Any], ...]) -> Result:
    """Compare printed ratios, which are rounded, and whose denominators differ where drafts do."""
    decimals = {row["dataset"]: row.get("decimals", {}) for row in printed}
    compared, wrong = 0, []
    for row in rates:
        column = "p" if row.get("p") else "p_exposed"
        found = row[column]
        if row["tau"] is None or not found or None in found:
            continue
        compared += 1
        digits = decimals.get(row["dataset"], {})
        rounding = 0.51 * (len(found) * 10.0 ** -digits.get(column, 2) + 10.0 ** -digits.get("tau", 2))
        highest = 1 + sum(found)
        # Positions that not every step drafted count for less than their rate says: at most by what was not drafted.
        undrafted = 0.0 if column == "p" else max(0.0, len(found) - (row["mean_drafted"] or 1.0))
        lowest = highest - undrafted * max(found[1:], default=0.0)
        if not lowest - rounding <= row["tau"] <= highest + rounding:
            factor = _engines(row["tau"] - 1, highest - 1)
            wrong.append(f"{words.name(row['dataset'])}: τ = {row['tau']:.2f}, 1 + Σ p = {highest:.2f}{factor}")
    if wrong:
        return failed(words.listed(wrong))
    return passed(f"{words.plural(compared, 'dataset')}, as printed") if compared else idle("no rates by position")


@check(
    "p_falls",
    title="p by position",
    meaning="A step that accepts a position has accepted all before it, so acceptance over all steps can only fall. "
    "Rates that rise are over other steps at each position: they are no p.",
    cause="Rates conditional on the position before (EAGLE's alpha, specdec_bench), or over the steps that drafted "
    "the position while drafts differ in length.",
    needs=Granularity.RATES,
)
def _p_falls(subject: Subject) -> Result:
    if subject.run.rates is not None:
        return _falls_of_rates(subject)
    known, wrong = False, []
    for dataset, tally in subject.tallies.items():
        if tally.hits is None or not tally.steps:
            continue
        known = True
        hits = [tally.steps, *map(int, tally.hits)]
        rises = [i for i, (before, after) in enumerate(pairwise(hits)) if after > before]
        wrong += [f"{words.name(dataset)}: {hits[i + 1]:,} after {hits[i]:,} at position {i}" for i in rises[:1]]
    if wrong:
        return failed(words.listed(wrong))
    return passed("falls or stays in every dataset") if known else idle("no counts by position")


def _falls_of_rates(subject: Subject) -> Result:
    known, rises, constant = False, [], True
    for row in subject.run.rates.iter_rows(named=True):
        found = [p for p in row.get("p") or row["p_exposed"] or [] if p is not None]
        known = known or len(found) > 1
        rise = max((after - before for before, after in pairwise(found)), default=0.0)
        if rise > 0.0101:  # Two rates rounded to two decimals may seem to rise by one hundredth.
            rises.append(f"{words.name(row['dataset'])}: by {rise:.2f}")
            mean = row["mean_drafted"]
            constant = constant and (bool(row.get("p")) or (mean is not None and mean >= len(found) - 0.005))
    if not rises:
        return passed("falls or stays in every dataset") if known else idle("no rates by position")
    return (failed if constant else warned)(words.listed(rises))


@check(
    "accepted_within_drafted",
    title="Accepted of drafted",
    meaning="Acceptance beyond the draft cannot be: lengths that count the bonus token are taken for accepted tokens, "
    "or the columns are exchanged.",
    cause="A log whose accepted column counts the bonus token, or ratios over another number of steps.",
    needs=Granularity.RATES,
)
def _accepted_within_drafted(subject: Subject) -> Result:
    run = subject.run
    if run.rates is not None:
        wrong = [
            f"{words.name(row['dataset'])}: τ = {row['tau']:.2f} with {row['mean_drafted']:g} drafted"
            for row in run.rates.iter_rows(named=True)
            if row["tau"] is not None and row["mean_drafted"] is not None
            if row["tau"] > row["mean_drafted"] + 1 + 0.02
        ]
        known = run.rates["mean_drafted"].null_count() < run.rates.height
        return failed(words.listed(wrong)) if wrong else passed("as printed") if known else idle("no drafted tokens")
    if run.counters is not None:
        wrong = [
            f"{words.name(dataset)}: {tally.accepted:,} accepted of {tally.drafted:,}"
            for dataset, tally in subject.tallies.items()
            if tally.drafted is not None and tally.accepted > tally.drafted
        ]
        known = any(tally.drafted is not None for tally in subject.tallies.values())
        if wrong:
            return failed(words.listed(wrong))
        return passed(_accepted_share(subject)) if known else idle("no count of drafted tokens")
    if run.counts is not None:
        over = run.counts.filter((pl.col("accepted") > pl.col("drafted")) | (pl.col("accepted") < 0))
        if over.height:
            step = over.row(0, named=True)
            return failed(f"{over['steps'].sum():,} steps, such as {step['accepted']} accepted of {step['drafted']}")
    return passed(_accepted_share(subject))


def _accepted_share(subject: Subject) -> str:
    tally = subject.pooled
    if not tally.drafted:
        return f"{tally.accepted:,} accepted"
    return f"{tally.accepted:,} accepted of {tally.drafted:,} drafted, {words.share(tally.accepted, tally.drafted)}"


@check(
    "positions_sum",
    title="Sum over positions",
    meaning="Each accepted token stands at one position. Where the sums differ, p and all that follows from it are "
    "of other steps than τ.",
    cause="Positions of one engine beside totals of all, positions that were cut off, counters read at two moments.",
    needs=Granularity.AGGREGATE,
)
def _positions_sum(subject: Subject) -> Result:
    if subject.run.counters is None:
        return idle("a log has no separate counts by position")
    known, wrong = 0, []
    for row in subject.run.counters.iter_rows(named=True):
        if row["per_position"] is None:
            continue
        known, summed = known + row["accepted"], sum(row["per_position"])
        if summed != row["accepted"]:
            wrong.append(f"{words.name(row['dataset'])}: {summed:,} by position, {row['accepted']:,} accepted")
    if wrong:
        return failed(words.listed(wrong))
    any_known = subject.run.counters["per_position"].null_count() < subject.run.counters.height
    return passed(f"{known:,} accepted tokens") if any_known else idle("no counts by position")


@check(
    "engines",
    title="Engines",
    meaning="Every engine of a data-parallel server counts by itself; here they are added up. A tool that reads one of "
    "them prints that one's τ, and one that divides one's rates by the drafts of all prints rates that are too small "
    "by their number.",
    cause="A server with several data-parallel engines, or counters of several servers.",
    needs=Granularity.AGGREGATE,
)
def _engines_check(subject: Subject) -> Result:
    if subject.run.counters is None:
        return idle("a log does not tell engines apart")
    said = subject.warning("several_engines")
    return warned(said) if said else idle("one engine, or counters that do not tell engines apart")
