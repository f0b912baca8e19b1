"""Groups: what a row of a table is computed from (a dataset, a family, or the pooled run)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from specdash.metrics.clusters import Clusters, Sampling
from specdash.metrics.tally import Tally, tallies_by_dataset, total
from specdash.schema import OTHER_FAMILY, POOLED, Granularity, Run


@dataclass(frozen=True)
class Group:
    """A set of steps with the responses they belong to.

    Attributes:
        name: Dataset, family, or "pooled".
        family: Family of a dataset; the family itself; None for the pooled group.
        granularity: What the run holds.
        tally: Counts over the steps.
        members: Names of its datasets.
        sampling: The clusters of the run.
        responses: One row a response (see ``response_sums``), None for counters.
    """

    name: str
    family: str | None
    granularity: Granularity
    tally: Tally
    members: tuple[str, ...]
    sampling: Sampling
    responses: pl.DataFrame | None = None

    @cached_property
    def measured(self) -> pl.DataFrame:
        """Responses with at least one drafted step: those that have an acceptance length."""
        if self.responses is None:
            raise ValueError("counters have no responses")
        return self.responses.filter(pl.col("steps") > 0)

    @cached_property
    def clusters(self) -> Clusters | None:
        """The prompts of the group with their counts, None without responses."""
        return self.sampling.prompts and self.sampling.prompts.only(self.members)

    @cached_property
    def prompts(self) -> pl.DataFrame:
        """One row a (dataset, prompt) of ``measured``: n, mean, std (ddof 1), ss, min, max of τ_r."""
        tau = pl.col("tau")
        return (
            self.measured.filter(pl.col("prompt").is_not_null())
            .group_by("dataset", "prompt", maintain_order=True)
            .agg(
                n=pl.len().cast(pl.Int64),  # it gets squared
                mean=tau.mean(),
                std=tau.std(ddof=1),
                ss=((tau - tau.mean()) ** 2).sum(),
                min=tau.min(),
                max=tau.max(),
            )
        )


def response_sums(run: Run) -> pl.DataFrame:
    """Sum a run's outcome counts by response.

    Returns:
        One row a response: the columns of RESPONSES, and ``steps`` (drafted steps S_r), ``undrafted`` (steps
        with K_s = 0), ``drafted`` (tokens), ``accepted`` (tokens), ``tau`` (τ_r, null when S_r = 0), ``length``
        (tokens: output tokens where every response of the run has them, else Σ(1 + a) over all its steps).
    """
    if run.responses is None:
        raise ValueError("this run has no responses")
    sums = _sums(run)
    known = run.responses["output_tokens"].null_count() == 0
    emitted = pl.col("steps") + pl.col("undrafted").fill_null(0) + pl.col("accepted")
    return run.responses.join(sums, on="response", how="left", maintain_order="left").with_columns(
        tau=pl.when(pl.col("steps") > 0).then(1 + pl.col("accepted") / pl.col("steps")),
        length=pl.col("output_tokens") if known else emitted,
    )


def _sums(run: Run) -> pl.DataFrame:
    """Return one row a response that has counts or sums: response, steps, undrafted, drafted, accepted."""
    parts = []
    if run.sums is not None:
        parts.append(
            run.sums.select("response", "steps", pl.lit(None, pl.Int64).alias("undrafted"), "drafted", "accepted")
        )
    if run.counts is not None:
        steps, drafting = pl.col("steps"), pl.col("drafted") > 0
        counts = run.counts.filter(pl.col("drafted").is_not_null())
        parts.append(
            counts.group_by("response").agg(
                steps.filter(drafting).sum(),
                undrafted=steps.filter(~drafting).sum(),
                drafted=(steps * pl.col("drafted")).sum(),
                accepted=(steps * pl.col("accepted")).sum(),
            )
        )
    return pl.concat(parts)


def response_taus(run: Run, block: int) -> pl.DataFrame:
    """Return the acceptance length of every response if its blocks had been cut at K′.

    Args:
        run: A run with responses.
        block: K′, 0 or more; from the run's K on nothing is cut.

    Returns:
        ``dataset, tau``, one row a response with drafted steps. Below K those of which only sums are known are missing.
    """
    if run.responses is None:
        raise ValueError("this run has no responses")
    if run.k is not None and block >= run.k:
        return response_sums(run).filter(pl.col("tau").is_not_null()).select("dataset", "tau")
    if run.counts is None:
        return pl.DataFrame(schema={"dataset": pl.String, "tau": pl.Float64})
    steps = pl.col("steps")
    kept = steps * pl.min_horizontal(pl.col("accepted"), pl.lit(block))
    drafting = run.counts.filter(pl.col("drafted") > 0)
    taus = drafting.group_by("response").agg(tau=1 + kept.sum() / steps.sum())
    return run.responses.join(taus, on="response", how="inner", maintain_order="left").select("dataset", "tau")


def restricted(run: Run, datasets: Collection[str]) -> Run:
    """Return the run with only some of its datasets.

    What is decided over the whole run stays so: its K, and whether length means output tokens.
    """
    chosen = pl.col("dataset").is_in(list(datasets))
    if run.latencies is not None:
        run = replace(run, latencies=run.latencies.filter(chosen))
    if run.responses is None:
        tables = {"counters": run.counters, "rates": run.rates}
        return replace(run, **{name: table.filter(chosen) for name, table in tables.items() if table is not None})
    responses = run.responses.filter(chosen)
    if run.responses["output_tokens"].null_count():
        responses = responses.with_columns(output_tokens=pl.lit(None, pl.Int64))
    beside = {"counts": run.counts, "sums": run.sums}
    kept = {
        name: table.join(responses, on="response", how="semi") for name, table in beside.items() if table is not None
    }
    return replace(run, responses=responses, **kept)


def groups(run: Run, family_of: Callable[[str], str | None], seed: str = "") -> tuple[list[Group], list[Group]]:
    """Split a run into its datasets and families.

    Args:
        run: A run of any granularity but ``rates``.
        family_of: Family of a dataset name, None when it has none.
        seed: Names the random stream of resamples.

    Returns:
        The datasets in the run's order followed by the pooled group, and the families in order of appearance.
    """
    tallies = tallies_by_dataset(run)
    responses = response_sums(run) if run.responses is not None else None
    families = {name: family_of(name) for name in tallies}
    sampling = Sampling(run, seed)

    def group(name: str, family: str | None, members: Mapping[str, Tally]) -> Group:
        chosen = None if responses is None else responses.filter(pl.col("dataset").is_in(list(members)))
        return Group(name, family, run.granularity, total(members.values()), tuple(members), sampling, chosen)

    datasets = [group(n, families[n] or OTHER_FAMILY, {n: t}) for n, t in tallies.items()]
    pooled = [group(POOLED, None, tallies)] if tallies else []
    known = dict.fromkeys(f for f in families.values() if f)
    by_family = [group(f, f, {n: t for n, t in tallies.items() if families[n] == f}) for f in known]
    return datasets + pooled, by_family
