"""Which run of an evaluation is the baseline of which, by what their files say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from specdash.schema import Granularity, Run
from specdash.speed.latency.arms import MEASURES, Arm
from specdash.speed.latency.comparison import Comparison, compare
from specdash.speed.latency.verdict import Verdict, judge

_ROLES = ("arm", "label")
"""Settings in which specdash bench and ``vllm bench serve`` say what a run is."""

_MODELS = ("model", "model_id")
"""Settings that say which model answered."""

_BASELINES = ("baseline", "vanilla", "autoregressive", "no_spec", "nospec", "control")


def timed(runs: Iterable[Run]) -> list[Run]:
    """Return the runs with latencies."""
    return [run for run in runs if run.latencies is not None]


def is_baseline(run: Run) -> bool:
    """Tell whether a run says that nothing was speculated in it, or holds nothing on acceptance."""
    said = [run.effective_config.get(key) for key in _ROLES]
    words = [word.casefold() for word in (*said, run.name) if isinstance(word, str)]
    if any(word.startswith(_BASELINES) for word in words):
        return True
    return run.granularity is Granularity.LATENCIES and not any(isinstance(word, str) for word in said)


def baseline_of(runs: Sequence[Run], run: Run) -> Run | None:
    """Return the baseline of a run among others: measured by the same tool, of the same model, under the same load.

    Args:
        runs: Runs of an evaluation.
        run: One with latencies.
    """
    if run.latencies is None or is_baseline(run):
        return None
    found = [other for other in timed(runs) if is_baseline(other) and not _is_again(other)]
    return next((other for other in found if _alike(other, run)), None)


def _alike(base: Run, spec: Run) -> bool:
    said = (run.effective_config.get(key) for run in (base, spec) for key in _MODELS)
    models = {name for name in said if isinstance(name, str)}
    tools = {run.semantics.producer for run in (base, spec) if run.semantics is not None}
    return len(models) <= 1 and len(tools) <= 1 and Arm.of(base).concurrency == Arm.of(spec).concurrency


def _is_again(run: Run) -> bool:
    return str(run.effective_config.get("arm", "")).endswith("again")


def again_of(runs: Sequence[Run], baseline: Run) -> Run | None:
    """Return the second measurement of a baseline, for an A/A floor; None without one."""
    second = f"{baseline.effective_config.get('arm')} again"
    found = [run for run in timed(runs) if run.effective_config.get("arm") == second]
    return next((run for run in found if Arm.of(run).concurrency == Arm.of(baseline).concurrency), None)


def against_baseline(runs: Sequence[Run], run: Run) -> list[tuple[Comparison, Verdict]]:
    """Compare a run with its baseline in every measure that both have.

    Args:
        runs: Runs of an evaluation.
        run: One of them.

    Returns:
        Comparisons with their judgements, in the order of ``MEASURES``; none without a baseline.
    """
    base = baseline_of(runs, run)
    if base is None:
        return []
    again = again_of(runs, base)
    arms = Arm.of(base), Arm.of(run)
    compared = [compare(*arms, m, again=None if again is None else Arm.of(again)) for m in MEASURES.values()]
    return [(one, judge(one)) for one in compared if one.pair.least]
