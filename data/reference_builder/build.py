"""Runs the steps of the reconstruction for every dataset."""

from dataclasses import dataclass

import numpy as np

from . import counts, lengths, responses, shares
from .tables import ABSENT, PROMPTS, SEED, Floats, Ints, K, Mask, Tables

REFITS = 2


@dataclass(frozen=True)
class Dataset:
    """One dataset of the per-step run.

    Attributes:
        name: Name of the dataset.
        present: Which (prompt, copy) are in the log.
        table: Steps by (prompt, copy, accepted tokens); the absent responses have plausible ones.
        order_seed: Seed of the random order of the steps.
    """

    name: str
    present: Mask
    table: Ints
    order_seed: int


@dataclass(frozen=True)
class Reconstruction:
    """Everything that is written: outcome counts of the single run and the datasets of the per-step run."""

    single: dict[str, Ints]
    datasets: list[Dataset]


def fitted_responses(
    tables: Tables, name: str, rng: np.random.Generator, totals: lengths.Totals
) -> tuple[Ints, Ints, Mask]:
    """Fit tau and lengths of one dataset's responses, and fit again to undo what rounding moved.

    Args:
        tables: The printed cells.
        name: Name of the dataset.
        rng: Source of the draws.
        totals: The dataset's steps, accepted tokens and correlation.

    Returns:
        Steps, accepted tokens, and which responses are present, by prompt and copy.
    """
    draws = responses.draw(rng, PROMPTS[name], ABSENT.get(name, ()))
    length_noise = lengths.noise(rng, PROMPTS[name])
    printed = responses.targets(tables, name)
    goal, starts = printed, responses.first_guesses(printed)
    best: tuple[float, Ints, Ints] | None = None
    for _ in range(1 + REFITS):
        parameters = responses.fit(goal, draws, starts)
        tau = responses.curve(parameters, draws)
        real = lengths.fit(tau, length_noise, draws.present, totals)
        steps, accepted = lengths.whole_numbers(real, tau, draws.present, totals)
        miss = printed - responses.statistics(1 + accepted / steps, draws.present)
        badness = float(np.abs(miss / responses.SCALES).max())
        if best is None or badness < best[0]:
            best = badness, steps, accepted
        goal, starts = goal + miss, [parameters]
    assert best is not None
    return best[1], best[2], draws.present


def build_dataset(tables: Tables, name: str, outcomes: Ints) -> Dataset:
    """Build one dataset of the per-step run.

    Args:
        tables: The printed cells.
        name: Name of the dataset.
        outcomes: Its steps by accepted tokens.

    Returns:
        The dataset.
    """
    index = list(PROMPTS).index(name)
    rng = np.random.default_rng([SEED, index])
    accepted_total = int(outcomes @ np.arange(K + 1))
    totals = lengths.Totals(int(outcomes.sum()), accepted_total, tables.value(name, "corr_tau_length"))
    steps, accepted, present = fitted_responses(tables, name, rng, totals)
    table = np.zeros((*steps.shape, K + 1), dtype=np.int64)
    table[present] = counts.outcome_table(rng, steps[present], accepted[present], outcomes)
    if not present.all():
        table[~present] = lone_rows(steps[~present], accepted[~present], outcomes)
    return Dataset(name, present, table, SEED + 1 + index)


def lone_rows(steps: Ints, accepted: Ints, outcomes: Ints) -> Ints:
    """Return counts for responses that are not in the log, in the shape of the dataset's outcomes."""
    base: Floats = outcomes / outcomes.sum()
    pairs = zip(steps, accepted, strict=True)
    table = np.array([shares.tilted(base, float(a / s)) * s for s, a in pairs])
    return counts.round_rows(table, steps, accepted)


def reconstruct(tables: Tables) -> Reconstruction:
    """Build the whole reconstruction.

    Args:
        tables: The printed cells.

    Returns:
        The counters of the single run and the datasets of the per-step run.
    """
    p, slack = shares.solve(tables)
    print(f"outcome shares: every printed cell met, smallest slack {slack:.3f} half-widths")
    outcomes = {name: shares.outcome_counts(p[d], tables.steps(name)) for d, name in enumerate(PROMPTS)}
    datasets = []
    for name, counted in outcomes.items():
        datasets.append(build_dataset(tables, name, counted))
        print(f"{name}: {int(datasets[-1].present.sum())} responses, {int(counted.sum())} steps")
    return Reconstruction(shares.single_run_counts(tables, outcomes), datasets)
