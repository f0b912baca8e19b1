"""Identities that hold for every log, and every metric against brute force over its steps and responses."""

import math
from collections import defaultdict
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from specdash.metrics import KEYS, all_metrics, get, run_rows
from specdash.metrics.group import groups
from specdash.metrics.tally import Tally, tallies_by_dataset, total
from specdash.schema import Granularity
from tests.helpers import counter_run, counters_of, log_run, response
from tests.metrics.logs import (
    DATASETS,
    FAMILIES,
    constant_logs,
    constant_step,
    fewer,
    quick,
    responses,
    variable_logs,
    variable_step,
)

STEP_KEYS = [metric.key for metric in all_metrics() if metric.needs != Granularity.RESPONSE]
RESPONSE_KEYS = ["tau", *(metric.key for metric in all_metrics() if metric.needs == Granularity.RESPONSE)]


def close(value):
    return pytest.approx(value, abs=1e-9, rel=1e-9)


def agree(found, expected):
    """Tell whether two values are the same up to rounding, None being undefined in both."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agree, found, expected))
    return found is None if expected is None else found is not None and found == close(expected)


def grouped(log, keys):
    """Some metrics of every dataset, the pooled run and every family, with the responses they are about and k."""
    run = log_run(log)
    by_dataset, by_family = groups(run, FAMILIES.get)
    for group in by_dataset:
        chosen = [r for r in log if group.name in (r.dataset, "pooled")]
        yield {key: get(key).value(group) for key in keys}, chosen, run.k
    for group in by_family:
        chosen = [r for r in log if FAMILIES[r.dataset] == group.name]
        yield {key: get(key).value(group) for key in keys}, chosen, run.k


def drafted_rows(log):
    """Rows with at least one drafted step, and (K, a) of their drafted steps as arrays."""
    for row, chosen, k in grouped(log, STEP_KEYS):
        steps = np.array([s for r in chosen for s in r.steps if s[0] > 0], dtype=int).reshape(-1, 2)
        if len(steps):
            yield row, steps[:, 0], steps[:, 1], k


def measured(chosen):
    """τ_r as an exact fraction, S_r, tokens Σ(1 + a) and (dataset, prompt) of responses with a drafted step."""
    found = []
    for r in chosen:
        accepted = [a for k, a in r.steps if k > 0]
        if accepted:
            tokens = sum(1 + a for _, a in r.steps)
            found.append((1 + Fraction(sum(accepted), len(accepted)), len(accepted), tokens, (r.dataset, r.prompt)))
    return found


def copies_of(found):
    copies = defaultdict(list)
    for tau, _, _, (dataset, prompt) in found:
        if prompt is not None:
            copies[dataset, prompt].append(tau)
    return list(copies.values())


def mean(values):
    return sum(values, start=Fraction(0)) / len(values)


def squares(values):
    return sum(((v - mean(values)) ** 2 for v in values), start=Fraction(0))


# Identities


@quick
@given(variable_logs)
def test_identities_of_positions_outcomes_and_blocks(log):
    for row, _, a, k in drafted_rows(log):
        p, outcome, cut = row["p"], row["outcome"], row["tau_at_k"]
        assert (len(p), len(outcome), len(cut)) == (k, k + 1, k)
        assert row["tau"] == close(1 + sum(p))
        assert sum(outcome) == close(1)
        assert outcome[k] == p[k - 1]
        assert outcome == close([before - after for before, after in zip([1, *p], [*p, 0], strict=True)])
        assert all(before >= after for before, after in zip([1, *p], p, strict=False))
        gains = np.diff([1, *cut])
        assert (gains >= 0).all()
        assert (np.diff(gains) <= 1e-12).all()
        assert cut[k - 1] == close(row["tau"])
        assert row["step_std"] == close(np.std(a))
        assert row["step_std"] ** 2 == close(sum((2 * i + 1) * q for i, q in enumerate(p)) - sum(p) ** 2)


@quick
@given(variable_logs)
def test_identities_of_the_ratios(log):
    for row, drafted, _, k in drafted_rows(log):
        mean_drafted = drafted.mean()
        assert 1 <= row["tau"] <= k + 1
        assert row["verify_rate"] == close(row["tau"] / (mean_drafted + 1))
        assert row["acceptance_ratio"] == close((row["tau"] - 1) / mean_drafted)
        assert 0 <= row["acceptance_ratio"] <= 1
        share = row["steps"] / (row["steps"] + row["steps_without_draft"])
        assert row["tau_all"] - 1 == close(share * (row["tau"] - 1))


@fewer
@given(variable_logs)
def test_identities_of_tau_over_responses(log):
    for row, chosen, k in grouped(log, RESPONSE_KEYS):
        found = measured(chosen)
        if not found:
            continue
        tau, weight = np.array([float(t) for t, *_ in found]), np.array([s for _, s, *_ in found])
        assert (tau >= 1).all()
        assert (tau <= k + 1).all()
        assert row["response_mean"] == close(tau.mean())
        assert row["tau"] == close((weight * tau).sum() / weight.sum())
        assert row["tau"] - row["response_mean"] == close(np.cov(weight, tau, ddof=0)[0, 1] / weight.mean())
        assert row["tau"] == close((weight * tau).sum() / (weight * tau / tau).sum())


@fewer
@given(responses(variable_step, prompts=("p", "q", "r")))
def test_within_and_between_prompts_make_the_whole_variance(log):
    for row, chosen, _ in grouped(log, RESPONSE_KEYS):
        copies = copies_of(measured(chosen))
        if row["within_share"] is None:
            continue
        everyone = [tau for taus in copies for tau in taus]
        between = sum((len(taus) * (mean(taus) - mean(everyone)) ** 2 for taus in copies), start=Fraction(0))
        variance = row["response_std"] ** 2
        assert row["within_share"] * variance + float(between) / len(everyone) == close(variance)


@quick
@given(constant_logs)
def test_identities_of_a_constant_k(log):
    for row, drafted, _, k in drafted_rows(log):
        p, c = row["p"], row["c"]
        assert p == row["p_exposed"] == close(row["p_km"])
        assert row["tau_at_k"] == close(row["tau_at_k_km"])
        assert row["tau"] == row["tau_all"]
        assert row["verify_rate"] == close(row["tau"] / (k + 1))
        assert set(drafted) == {k}
        for i, before in enumerate([1, *p[:-1]]):
            assert c[i] == (close(p[i] / before) if before else None)


# Brute force


@quick
@given(variable_logs)
def test_step_metrics_against_the_steps(log):
    for row, drafted, a, k in drafted_rows(log):
        hits = [int((a > i).sum()) for i in range(k)]
        exposed = [int((drafted > i).sum()) for i in range(k)]
        risk = [int(((drafted > i) & (a >= i)).sum()) for i in range(k)]
        assert row["steps"] == len(a)
        assert row["drafted"] == drafted.sum()
        assert row["accepted"] == a.sum()
        assert row["tau"] == close(1 + a.mean())
        assert row["p"] == close([n / len(a) for n in hits])
        assert agree(row["p_exposed"], [n / d if d else None for n, d in zip(hits, exposed, strict=True)])
        assert row["outcome"] == close([(a == j).mean() for j in range(k + 1)])
        assert row["tau_at_k"] == close([1 + np.minimum(a, j).mean() for j in range(1, k + 1)])
        c = [n / d if d else None for n, d in zip(hits, risk, strict=True)]
        assert agree(row["c"], c)
        assert row["alpha_mle"] == close(a.sum() / (a.sum() + (a < drafted).sum()))


@quick
@given(variable_logs)
def test_kaplan_meier_against_the_product_of_rates(log):
    for row, drafted, a, k in drafted_rows(log):
        survival, alive = [], Fraction(1)
        for i in range(k):
            at_risk = int(((drafted > i) & (a >= i)).sum())
            if alive != 0:  # what never happens at i - 1 never happens at i, seen or not
                alive = None if alive is None or not at_risk else alive * Fraction(int((a > i).sum()), at_risk)
            survival.append(alive)
        assert agree(row["p_km"], [None if s is None else float(s) for s in survival])
        sums = [None if None in survival[: j + 1] else float(1 + sum(survival[: j + 1])) for j in range(k)]
        assert agree(row["tau_at_k_km"], sums)


@quick
@given(variable_logs)
def test_geometric_model_against_every_step_by_itself(log):
    for row, drafted, _, k in drafted_rows(log):
        alpha = row["implied_alpha"]
        assert 0 <= alpha <= 1
        probability = np.zeros(k + 1)
        for block in drafted:
            probability[:block] += (1 - alpha) * alpha ** np.arange(block)
            probability[block] += alpha**block
        probability /= len(drafted)
        assert row["geometric_outcome"] == close(probability)
        assert sum(row["geometric_outcome"]) == close(1)
        model_mean = probability @ np.arange(k + 1)
        assert model_mean == close(row["tau"] - 1)
        variance = probability @ (np.arange(k + 1) - model_mean) ** 2
        # The square root of rounding noise is no longer small.
        assert row["geometric_std"] == pytest.approx(math.sqrt(variance), abs=1e-7)


def minus_log_likelihood(accepted, stopped, alpha):
    return -accepted * math.log(alpha) - stopped * math.log1p(-alpha)


@quick
@given(variable_logs)
def test_alpha_mle_has_the_greatest_likelihood(log):
    for row, drafted, a, _ in drafted_rows(log):
        stopped = int((a < drafted).sum())

        if stopped > 0 and a.sum():
            loss = partial(minus_log_likelihood, a.sum(), stopped)
            best = optimize.minimize_scalar(loss, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-9})
            assert row["alpha_mle"] == pytest.approx(best.x, abs=1e-5)
        else:
            assert row["alpha_mle"] == (0 if stopped else 1)


@fewer
@given(responses(variable_step, prompts=("p", "q", "r", None)))
def test_response_metrics_against_the_responses(log):
    for row, chosen, _ in grouped(log, RESPONSE_KEYS):
        found = measured(chosen)
        prompts = {(r.dataset, r.prompt) for r in chosen if r.prompt is not None}
        assert row["responses"] == len(chosen)
        assert row["prompts"] == (len(prompts) or None)
        names = ["response_mean", "response_std", "response_p10", "response_p50", "response_p90"]
        if not found:
            assert [row[name] for name in names] == [None] * 5
            continue
        tau = np.array([float(t) for t, *_ in found])
        assert [row[name] for name in names] == close([tau.mean(), tau.std(), *np.percentile(tau, [10, 50, 90])])


@fewer
@given(responses(variable_step, prompts=("p", "q", "r", None), datasets=("x", "y")))
def test_copies_against_the_responses(log):
    for row, chosen, _ in grouped(log, RESPONSE_KEYS):
        prompts = copies_of(measured(chosen))
        copies = [taus for taus in prompts if len(taus) > 1]
        names = ["copy_std", "copy_range", "copy_max", "copy_min"]
        if not copies:
            assert [row[name] for name in [*names, "within_share", "within_share_corrected"]] == [None] * 6
            continue
        deviations = [math.sqrt(squares(taus) / (len(taus) - 1)) for taus in copies]
        best, worst = float(mean([max(taus) for taus in copies])), float(mean([min(taus) for taus in copies]))
        # Polars takes the deviation of equal values for 0 only up to rounding.
        assert [row[name] for name in names] == pytest.approx(
            [np.mean(deviations), best - worst, best, worst], abs=1e-7
        )
        everyone = [tau for taus in prompts for tau in taus]
        whole, within = squares(everyone), sum(map(squares, prompts), start=Fraction(0))
        assert agree(row["within_share"], float(within / whole) if whole else None)
        assert agree(row["within_share_corrected"], corrected(copies))


def corrected(copies):
    """One-way random-effects ANOVA in exact fractions."""
    sizes = [len(taus) for taus in copies]
    everyone = [tau for taus in copies for tau in taus]
    groups, size = len(copies), len(everyone)
    if groups < 2:
        return None
    msw = sum(map(squares, copies), start=Fraction(0)) / (size - groups)
    msb = sum(n * (mean(taus) - mean(everyone)) ** 2 for n, taus in zip(sizes, copies, strict=True)) / (groups - 1)
    n0 = (size - Fraction(sum(n * n for n in sizes), size)) / (groups - 1)
    between = max(Fraction(0), (msb - msw) / n0)
    return float(msw / (msw + between)) if msw + between else None


@fewer
@given(variable_logs)
def test_correlations_against_scipy(log):
    for row, chosen, _ in grouped(log, RESPONSE_KEYS):
        found = measured(chosen)
        tau = [float(t) for t, *_ in found]
        for name, at, correlation in (
            ("corr_tau_tokens", 2, stats.pearsonr),
            ("corr_tau_steps", 1, stats.pearsonr),
            ("corr_tau_tokens_spearman", 2, stats.spearmanr),
        ):
            length = [response[at] for response in found]
            if len(set(tau)) < 2 or len(set(length)) < 2:
                assert row[name] is None
            else:
                assert row[name] == close(correlation(tau, length).statistic)


@fewer
@given(variable_logs, st.data())
def test_logged_output_tokens_are_the_length_when_every_response_has_them(log, data):
    tokens = [data.draw(st.integers(1, 50)) for _ in log]
    known = [type(r)(r.steps, r.dataset, r.prompt, output_tokens=n) for r, n in zip(log, tokens, strict=True)]
    pairs = [(float(measured([r])[0][0]), n) for r, n in zip(log, tokens, strict=True) if measured([r])]
    *_, pooled = run_rows(log_run(known), FAMILIES.get)[0]
    if len({t for t, _ in pairs}) < 2 or len({n for _, n in pairs}) < 2:
        assert pooled["corr_tau_tokens"] is None
    else:
        assert pooled["corr_tau_tokens"] == close(stats.pearsonr(*zip(*pairs, strict=True)).statistic)
    # One that has none: all of them take the tokens of their steps.
    gap = data.draw(st.integers(0, len(log) - 1))
    known[gap] = log[gap]
    assert run_rows(log_run(known), FAMILIES.get) == run_rows(log_run(log), FAMILIES.get)


# Counts add up


def same(one, other):
    """Tell whether two tallies hold the same counts."""
    return all(np.array_equal(getattr(one, field), getattr(other, field)) for field in Tally.__dataclass_fields__)


@quick
@given(variable_logs)
def test_pooled_and_family_tallies_are_sums_over_datasets(log):
    run = log_run(log)
    tallies = tallies_by_dataset(run)
    assert list(tallies) == list(dict.fromkeys(r.dataset for r in log))
    merged = [type(r)(r.steps, "all", r.prompt) for r in log]
    assert same(total(tallies.values()), tallies_by_dataset(log_run(merged))["all"])


@fewer
@given(variable_logs)
def test_pooled_row_is_the_row_of_the_log_as_one_dataset(log):
    *_, pooled = run_rows(log_run(log), {}.get)[0]
    named = [type(r)(r.steps, "all", None if r.prompt is None else f"{r.dataset} {r.prompt}") for r in log]
    (alone, again), families = run_rows(log_run(named), {}.get)
    assert families == []
    assert again == alone | {"dataset": "pooled", "family": None}
    for key in KEYS:
        assert agree(pooled[key], alone[key]), key


@quick
@given(variable_logs, st.randoms(use_true_random=False))
def test_tallies_of_two_halves_add_up_to_the_whole(log, random):
    halves = ([], [])
    for r in log:
        steps = list(r.steps)
        random.shuffle(steps)
        cut = random.randint(0, len(steps))
        for half, part in zip(halves, (steps[:cut], steps[cut:]), strict=True):
            half.append(type(r)(tuple(part), r.dataset, r.prompt))
    whole = log_run(log)
    first, second = (tallies_by_dataset(log_run(half, k=whole.k)) for half in halves)
    for dataset, tally in tallies_by_dataset(whole).items():
        assert same(first[dataset] + second[dataset], tally)


@fewer
@given(variable_logs)
def test_order_of_steps_and_responses_and_split_counts_change_nothing(log):
    expected, _ = run_rows(log_run(log), FAMILIES.get)
    backwards = [type(r)(r.steps[::-1], r.dataset, r.prompt) for r in reversed(log)]
    found, _ = run_rows(log_run(backwards), FAMILIES.get)
    split = log_run(log)
    counts = split.counts.with_columns(steps=split.counts["steps"] * 2)
    doubled = run_rows(replaced(split, counts), FAMILIES.get)[0]
    twice = run_rows(replaced(split, split.counts.vstack(split.counts)), FAMILIES.get)[0]
    assert doubled == twice
    by_name = {row["dataset"]: row for row in found}
    for row in expected:
        for key in KEYS:
            assert agree(by_name[row["dataset"]][key], row[key]), key


def replaced(run, counts):
    return type(run)(run.name, run.granularity, run.k, responses=run.responses, counts=counts)


@quick
@given(
    st.integers(1, 6).flatmap(
        lambda k: st.dictionaries(st.sampled_from(DATASETS), st.lists(constant_step(k), min_size=1), min_size=1)
    )
)
def test_counters_say_the_same_as_the_log_for_a_constant_k(steps_of):
    log = [response(*steps, dataset=name) for name, steps in steps_of.items()]
    rows = [counters_of(steps, name, block=steps[0][0]) for name, steps in steps_of.items()]
    from_log, from_counters = run_rows(log_run(log), FAMILIES.get), run_rows(counter_run(*rows), FAMILIES.get)
    needs = {metric.key: metric.needs for metric in all_metrics()}
    # Counters do not count the steps that drafted nothing; which of the rest needs no response is declared.
    unknown = {"steps_without_draft", "tau_all"}
    for logged, counted in zip(chain(*from_log), chain(*from_counters), strict=True):
        for key in ("dataset", "family", *KEYS):
            if key in unknown or needs.get(key) == Granularity.RESPONSE:
                assert counted[key] is None
            else:
                assert counted[key] == logged[key], key


# What a value is


@fewer
@given(variable_logs)
def test_values_are_plain_finite_numbers_and_within_their_bounds(log):
    shares = ("verify_rate", "acceptance_ratio", "within_share", "within_share_corrected", "alpha_mle", "implied_alpha")
    correlations = ("corr_tau_tokens", "corr_tau_steps", "corr_tau_tokens_spearman")
    for row in chain(*run_rows(log_run(log), FAMILIES.get)):
        assert list(row) == ["dataset", "family", *KEYS]
        for key in KEYS:
            for value in row[key] if type(row[key]) is list else [row[key]]:
                assert value is None or type(value) in (int, float), key
                assert value is None or math.isfinite(value), key
        assert all(row[key] is None or 0 <= row[key] <= 1 for key in shares)
        assert all(row[key] is None or -1 <= row[key] <= 1 for key in correlations)
