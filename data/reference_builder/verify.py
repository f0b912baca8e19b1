"""Checks a written zip against the printed tables, from the members alone.

Nothing here uses the builder's state: the log and the samples are read back and every statistic is computed
anew.
"""

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .tables import ABSENT, COPIES, POOLED, PROMPTS, RTT_MS, TOTAL_DRAFTS_A, Floats, Ints, K, Tables, decimals

MEMBERS = {
    "evaluation.json",
    "7_draft/config.json",
    "7_draft/counters.json",
    "7_draft_best_of_10/config.json",
    "7_draft_best_of_10/results_table.txt",
    "7_draft_best_of_10/samples.jsonl",
    "7_draft_best_of_10/spec_log.csv",
}
TOLERANCES = {"within_share_percent": 1.5, "corr_tau_length": 0.015}
TOLERANCE = 0.035


@dataclass
class Report:
    """Violations found, and the largest distance to the printed value by column."""

    tables: Tables
    violations: list[str] = field(default_factory=list)
    worst: dict[str, float] = field(default_factory=dict)
    cells: int = 0

    def require(self, holds: object, message: str) -> None:
        """Note a violation unless the condition holds."""
        if not holds:
            self.violations.append(message)

    def exact(self, dataset: str, column: str, value: float) -> None:
        """Check that a value prints as the table does."""
        printed = self.tables.rows[dataset][column]
        shown = f"{value:.{decimals(printed)}f}"
        self.cells += 1
        self.require(shown == printed, f"{dataset} {column}: printed {printed}, computed {value:.6f}")

    def near(self, dataset: str, column: str, value: float) -> None:
        """Check that a value is within its tolerance, and keep the largest deviation."""
        deviation = abs(value - self.tables.value(dataset, column))
        self.cells += 1
        self.worst[column] = max(self.worst.get(column, 0.0), deviation)
        allowed = TOLERANCES.get(column, TOLERANCE)
        self.require(deviation <= allowed, f"{dataset} {column}: off by {deviation:.4f} (allowed {allowed})")


@dataclass(frozen=True)
class Log:
    """The log by response: outcome counts (response x 8), and the samples in the same order."""

    counts: Ints
    samples: list[dict[str, Any]]


def check_steps(report: Report, dataset: str, counts: Ints) -> None:
    """Check the cells that come from outcome counts: tables 1 to 5 and 7."""
    steps = counts.sum()
    values = np.arange(K + 1)
    share = counts / steps
    tau = float(1 + counts @ values / steps)
    p = np.array([counts[i + 1 :].sum() for i in range(K)]) / steps
    c = p / np.concatenate(([1.0], p[:-1]))
    at = [float(1 + counts @ np.minimum(values, k) / steps) for k in range(K + 1)]
    report.exact(dataset, "steps", float(steps))
    report.exact(dataset, "tau_run_b", tau)
    report.exact(dataset, "step_std", float(np.sqrt(share @ (values - (tau - 1)) ** 2)))
    alpha = brentq(lambda a: (1 - a ** (K + 1)) / (1 - a) - tau, 1e-9, 1 - 1e-9, xtol=1e-14)
    report.exact(dataset, "implied_alpha", float(alpha))
    for i in range(K):
        report.exact(dataset, f"p{i}", float(p[i]))
        report.exact(dataset, f"c{i}", float(c[i]))
        report.exact(dataset, f"k{i + 1}", at[i + 1])
    for j in range(K + 1):
        report.exact(dataset, f"a{j}", float(100 * share[j]))
    report.exact(dataset, "c0_minus_c6", float(c[0] - c[6]))
    report.exact(dataset, "gain_5_to_7", at[7] - at[5])
    check_speed(report, dataset, tau)


def check_speed(report: Report, dataset: str, tau: float) -> None:
    """Check a row of table 7."""
    report.exact(dataset, "tau", tau)
    report.exact(dataset, "speedup", tau)
    for rtt in RTT_MS:
        report.exact(dataset, f"rtt{rtt}", 2 * tau / (10 * rtt / 1000))


def check_responses(report: Report, dataset: str, tau: Floats, tokens: Floats) -> None:
    """Check the response and copy columns. Absent responses are NaN in ``tau`` (prompt x copy)."""
    here = ~np.isnan(tau)
    flat = tau[here]
    groups = [row[~np.isnan(row)] for row in tau]
    within = sum(float(((g - g.mean()) ** 2).sum()) for g in groups) / flat.size
    found = {
        "response_mean": flat.mean(),
        "response_p10": np.quantile(flat, 0.1, method="linear"),
        "response_p50": np.quantile(flat, 0.5, method="linear"),
        "response_p90": np.quantile(flat, 0.9, method="linear"),
        "response_std": flat.std(),
        "within_share_percent": 100 * within / flat.var(),
        "mean_copy_std": np.mean([g.std(ddof=1) for g in groups]),
        "mean_copy_range": np.mean([g.max() - g.min() for g in groups]),
        "mean_copy_max": np.mean([g.max() for g in groups]),
        "mean_copy_min": np.mean([g.min() for g in groups]),
        "corr_tau_length": np.corrcoef(flat, tokens[here])[0, 1],
    }
    for column, value in found.items():
        report.near(dataset, column, float(value))


def read_log(report: Report, archive: zipfile.ZipFile) -> Log:
    """Read the samples and the step log and check that they agree row by row."""
    text = archive.read("7_draft_best_of_10/samples.jsonl").decode()
    samples = [json.loads(line) for line in text.splitlines()]
    raw = archive.read("7_draft_best_of_10/spec_log.csv")
    report.require(b"\r" not in raw and raw.endswith(b"\n"), "spec_log.csv: line ends are not LF")
    log = np.loadtxt(io.BytesIO(raw), delimiter=",", dtype=np.int64)
    ids, drafted, accepted = log.T
    report.require((np.diff(ids) >= 0).all(), "spec_log.csv: requests are not ascending")
    report.require((drafted == K).all(), "spec_log.csv: a step did not draft 7 tokens")
    report.require(accepted.min() >= 0 and accepted.max() <= K, "spec_log.csv: accepted out of range")
    report.require(ids[0] == 0 and ids[-1] == len(samples) - 1, "spec_log.csv: first or last id")
    report.require(len(log) == report.tables.steps(POOLED), f"spec_log.csv: {len(log)} rows")
    counts = np.bincount(ids * (K + 1) + accepted, minlength=len(samples) * (K + 1)).reshape(-1, K + 1)
    return Log(counts, samples)


def check_samples(report: Report, log: Log) -> None:
    """Check every line of samples.jsonl: its place, its counts, and that they match the log."""
    expected = [(name, q, c) for name, prompts in PROMPTS.items() for q in range(prompts) for c in range(COPIES)]
    found = [(s["dataset"], s["question_id"], s["copy"]) for s in log.samples]
    report.require(found == expected, "samples.jsonl: order of the responses")
    absent = {(name, q, c) for name, pairs in ABSENT.items() for q, c in pairs}
    for key, sample, counts in zip(found, log.samples, log.counts, strict=True):
        steps, accepted = sample["num_drafts"], sample["accepted_tokens"]
        logged = (int(counts.sum()), int(counts @ np.arange(K + 1)))
        report.require(logged == ((0, 0) if key in absent else (steps, accepted)), f"{key}: log {logged}")
        report.require(steps >= 3 and 0 < accepted < K * steps, f"{key}: {accepted} accepted in {steps} steps")
        report.require(sample["draft_tokens"] == K * steps, f"{key}: draft_tokens")
        report.require(sample["accept_len"] == round(1 + accepted / steps, 4), f"{key}: accept_len")
        report.require(sample["output_tokens"] == 1 + steps + accepted <= 2048, f"{key}: output_tokens")


def check_single_run(report: Report, archive: zipfile.ZipFile) -> None:
    """Check the counters of the run with one response a prompt."""
    rows = json.loads(archive.read("7_draft/counters.json"))
    report.require([(r["dataset"], r["num_samples"]) for r in rows] == list(PROMPTS.items()), "counters: datasets")
    for row in rows:
        name, drafts, accepted = row["dataset"], row["drafts"], row["accepted_tokens"]
        report.exact(name, "tau_run_a", 1 + accepted / drafts)
        rates = [round(n / drafts, 6) for n in row["per_pos"]]
        report.require(accepted == sum(row["per_pos"]), f"counters {name}: accepted_tokens")
        report.require(row["draft_tokens"] == K * drafts, f"counters {name}: draft_tokens")
        report.require(row["accept_rates_by_position"] == rates, f"counters {name}: rates")
        report.require(sorted(rates, reverse=True) == rates, f"counters {name}: rates increase")
        report.require(row["acceptance_length"] == round(1 + accepted / drafts, 6), f"counters {name}: tau")
        rate = round((1 + accepted / drafts) / (K + 1), 6)
        report.require(row["verify_rate"] == rate, f"counters {name}: verify_rate")
    total = sum(row["drafts"] for row in rows)
    report.require(total == TOTAL_DRAFTS_A, f"counters: {total} drafts")
    report.exact(POOLED, "tau_run_a", 1 + sum(row["accepted_tokens"] for row in rows) / total)


def check_result_table(report: Report, text: str, taus: dict[str, Floats]) -> None:
    """Check the boxed table of the per-step run against the log."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[0] == "|"]
    report.require(rows[0] == ["dataset", "alen_mean", "ratio_max", "ratio_mean", "ratio_min"], "results: head")
    report.require([row[0] for row in rows[1:]] == list(PROMPTS), "results: datasets")
    for name, *cells in rows[1:]:
        ratios = [(row[~np.isnan(row)] - 1) / K for row in taus[name]]
        wanted = [f"{np.nanmean(taus[name]):.2f}"]
        summaries = ([summary(ratio) for ratio in ratios] for summary in (np.max, np.mean, np.min))
        wanted.extend(f"{np.mean(values):.4f}" for values in summaries)
        report.require(cells == wanted, f"results {name}: {cells}, from the log {wanted}")


def verify(path: Path, tables: Tables) -> Report:
    """Check a written zip.

    Args:
        path: The zip.
        tables: The printed cells.

    Returns:
        The violations and the largest deviations.
    """
    report = Report(tables)
    with zipfile.ZipFile(path) as archive:
        report.require(set(archive.namelist()) == MEMBERS, f"members: {archive.namelist()}")
        log = read_log(report, archive)
        results = archive.read("7_draft_best_of_10/results_table.txt").decode()
        check_single_run(report, archive)
    check_samples(report, log)
    taus: dict[str, Floats] = {}
    first = 0
    for name, prompts in PROMPTS.items():
        part = slice(first, first := first + prompts * COPIES)
        counts = log.counts[part]
        check_steps(report, name, counts.sum(axis=0))
        steps = counts.sum(axis=1)
        tau = np.where(steps > 0, 1 + counts @ np.arange(K + 1) / np.maximum(steps, 1), np.nan)
        taus[name] = tau.reshape(prompts, COPIES)
        tokens = np.array([s["output_tokens"] for s in log.samples[part]], dtype=float)
        check_responses(report, name, taus[name], tokens.reshape(prompts, COPIES))
    check_steps(report, POOLED, log.counts.sum(axis=0))
    check_speed(report, "no speculation", 1.0)
    check_result_table(report, results, taus)
    return report
