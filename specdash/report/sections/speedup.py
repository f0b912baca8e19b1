"""Speed-up: what a run's τ is worth once drafting costs something, as documented elsewhere and corrected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from specdash import charts
from specdash.charts import Axis, Curve, Mark, text
from specdash.metrics import Row
from specdash.report.sections.base import FigurePart, Part, Subject, TablePart
from specdash.report.sections.drafting import (
    Drafting,
    Own,
    ar_ends,
    ar_speedup,
    block_ends,
    block_speedup,
    documented,
    own,
)
from specdash.report.tables import Column, Table
from specdash.schema import Granularity
from specdash.speed import speedup as forms
from specdash.speed.speedup import AUTOREGRESSIVE, BLOCK, DOCUMENTED, IID, IID_BLOCK, Form

Value = TypeVar("Value")

_POINTS = 101
_LONGEST = 16  # draft tokens that the axis of block lengths reaches to at least


def table(drafting: Drafting, run_k: int | None) -> Table:
    """Return the table of a run: its τ and ratio, what is documented, and the two forms beside it."""

    def of(value: Callable[[Own], Value]) -> Callable[[Row], Value | None]:
        def derive(row: Row) -> Value | None:
            found = own(row, drafting.k, run_k)
            return None if found is None or not found.drafted else value(found)

        return derive

    c, k = drafting.c, drafting.k
    columns = (
        Column(
            "tau",
            f"τ at K={k}",
            derive=of(lambda o: o.tau),
            bounds=of(lambda o: o.ends(lambda tau: tau, by_drafted=False)),
            help="Tokens a step, bonus token included.",
        ),
        Column(
            "ratio",
            forms.Alpha.RATIO,
            decimals=3,
            derive=of(lambda o: o.ratio),
            bounds=of(lambda o: o.ends(lambda tau: (tau - 1) / o.drafted, by_drafted=True)),
            help="Σa/ΣK = (τ − 1)/K̄.",
        ),
        *(
            Column(
                form.key,
                form.label,
                derive=of(value),
                bounds=of(ends),
                help=f"$$ {form.formula} $$\n\nSource: {form.source}.",
            )
            for form, value, ends in (
                (AUTOREGRESSIVE, lambda o: ar_speedup(o, c), lambda o: ar_ends(o, c)),
                (BLOCK, lambda o: block_speedup(o, c), lambda o: block_ends(o, c)),
            )
        ),
        Column(
            "documented",
            DOCUMENTED.label,
            derive=of(lambda o: documented(o, drafting)),
            help=f"$$ {DOCUMENTED.formula} $$\n\nSource: {DOCUMENTED.source}.",
        ),
        Column(
            "cost_limit_autoregressive",
            "c below which AR pays",
            decimals=3,
            derive=of(lambda o: forms.cost_limit(o.tau, o.drafted, one_pass=False)),
            help="(τ − 1)/K̄: the accept ratio itself.",
        ),
        Column(
            "cost_limit_block",
            "c below which block pays",
            derive=of(lambda o: forms.cost_limit(o.tau, o.drafted, one_pass=True)),
            help="τ − 1.",
        ),
    )
    note = f"c = {c:g} is an assumption until drafter and target have been timed."
    if run_k and k < run_k:
        note += f" τ at K={k} is implied by cutting the blocks of {run_k}: a lower bound."
    return Table("speed_up", "Speed-up by dataset", Granularity.RATES, columns, note)


def parts(subject: Subject, drafting: Drafting, row: Row | None) -> list[Part]:
    """Return figures and table.

    Args:
        subject: The run.
        drafting: The drafter.
        row: The row that curves over c and k belong to; None where the run has no acceptance data.
    """
    shown: list[Part] = [
        FigurePart("speedup_ratio", partial(over_ratio, subject, drafting, row), "Over the accept ratio"),
        FigurePart("speedup_cost", partial(over_cost, subject, drafting, row), "Over the draft cost"),
        FigurePart("speedup_blocks", partial(over_blocks, subject, drafting, row), "Over the block length"),
        FigurePart("speedup_alpha", partial(over_alpha, drafting, row), "Over the α of the i.i.d. model"),
    ]
    if subject.rows.datasets:
        by_dataset = table(drafting, subject.run.k)
        shown.append(TablePart(by_dataset, by_dataset.title))
    return shown


def _name(row: Row) -> str:
    return row["dataset"]


def _curve(form: Form, grid: np.ndarray, drafting: Drafting) -> Curve:
    """A form over its α."""
    at = form.break_even(drafting.k, drafting.c).value
    values = form.value(grid, drafting.k, drafting.c).tolist()
    return Curve(form.label, grid.tolist(), values, documented=not form.is_speedup, break_even=at)


def _observed(drafting: Drafting, x: float) -> list[Mark]:
    if drafting.observed is None:
        return []
    ends = drafting.observed_low, drafting.observed_high
    return [Mark("observed speed-up", x, drafting.observed, None, *ends, observed=True)]


def over_ratio(subject: Subject, drafting: Drafting, row: Row | None, theme: charts.Theme) -> charts.Chart:
    """Documented, AR and block form over the accept ratio, with the datasets of the run on the form that fits."""
    grid = np.linspace(0, 1, _POINTS)
    curves = [_curve(form, grid, drafting) for form in (DOCUMENTED, AUTOREGRESSIVE, BLOCK)]
    marks = []
    for of in subject.rows.datasets:
        found = own(of, drafting.k, subject.run.k)
        if found is None or not found.drafted:
            continue
        main = of is row
        ends = drafting.speedup_ends(found) or ()
        colour = charts.family_colour(of["family"], theme)
        point = Mark(_name(of), found.ratio, drafting.speedup(found), colour, *(ends if main else ()), small=not main)
        marks.append(point)
        marks += _observed(drafting, found.ratio) if main else []
    axis = Axis(f"Accept ratio Σa/ΣK (prefix; not α); τ = 1 + {drafting.k} · ratio", "accept_ratio")
    return charts.speedup_curves(curves, axis, theme, marks=marks, caption=_ratio_caption(drafting))


def _ratio_caption(drafting: Drafting) -> str:
    starts = text.number(float(DOCUMENTED.value(0.0, drafting.k, drafting.c)), 2)
    return (
        f"At k = {drafting.k} and c = {drafting.c:g}, by accept ratio: an AR draft {_at(AUTOREGRESSIVE, drafting)}, a "
        f"block draft {_at(BLOCK, drafting)} (crosses). The documented line {_at(DOCUMENTED, drafting)} and starts at "
        f"{starts}: it is no speed-up."
    )


def _at(form: Form, drafting: Drafting) -> str:
    """Say where a form breaks even."""
    found = form.break_even(drafting.k, drafting.c)
    if found.value is None:
        return "never pays"
    return "always pays" if found.value <= 0 else f"pays above {text.number(found.value, 3)}"


def over_cost(subject: Subject, drafting: Drafting, row: Row | None, theme: charts.Theme) -> charts.Chart:
    """The three forms over c at the run's own τ; at that of the i.i.d. α where no run is behind."""
    found = own(row, drafting.k, subject.run.k) if row else None
    of = found or Own(float(forms.tokens_of_iid(drafting.alpha, drafting.k)), drafting.k, True)
    grid = np.linspace(0, 1, _POINTS)
    ratio = of.ratio if of.drafted else 0.0
    values = {
        DOCUMENTED: DOCUMENTED.value(ratio, drafting.k, grid),
        AUTOREGRESSIVE: forms.autoregressive(of.tau, of.drafted, grid),
        BLOCK: forms.block(of.tau, grid),
    }
    limits = {
        DOCUMENTED: drafting.k * ratio / (1 + drafting.k),
        AUTOREGRESSIVE: forms.cost_limit(of.tau, of.drafted or 1, one_pass=False),
        BLOCK: forms.cost_limit(of.tau, of.drafted or 1, one_pass=True),
    }
    curves = [
        Curve(form.label, grid.tolist(), y.tolist(), documented=not form.is_speedup, break_even=limits[form])
        for form, y in values.items()
    ]
    marks = _observed(drafting, drafting.c)
    if found is not None:
        marks.insert(0, Mark(_name(row), drafting.c, drafting.speedup(of)))
    whose = _name(row) if found is not None else f"i.i.d. α {drafting.alpha:g}"
    caption = (
        f"With τ {text.number(of.tau, 2)} ({text.plain(whose)}) an AR drafter pays below a cost of "
        f"{text.number(limits[AUTOREGRESSIVE], 3)} of a target pass a token, a block drafter below "
        f"{text.number(limits[BLOCK], 2)} a step."
    )
    axis = Axis("Draft cost c: one drafter pass over one target pass", "c", decimals=2, chosen=drafting.c)
    return charts.speedup_curves(curves, axis, theme, marks=marks, caption=caption)


def over_blocks(subject: Subject, drafting: Drafting, row: Row | None, theme: charts.Theme) -> charts.Chart:
    """The i.i.d. forms over k, the run's τ(K′) beside them, and the documented formula with its ratio held fixed."""
    run_k = subject.run.k or 0
    grid = list(range(1, max(_LONGEST, run_k, drafting.k) + 1))
    alpha, whose = drafting.alpha, f"i.i.d. α {drafting.alpha:g}"
    curves = [
        Curve(f"{kind} draft, {whose}", grid, _over_k(form, alpha, grid, drafting.c), colour_as=kind)
        for kind, form in (("AR", IID), ("block", IID_BLOCK))
    ]
    found = [own(row, k, run_k) for k in grid[:run_k]] if row else []
    known = [o for o in found if o is not None]
    if known and known[-1].drafted:
        curves += [
            Curve(
                f"{kind} draft, {text.plain(_name(row))}",
                grid[:run_k],
                [None if o is None else value(o, drafting.c) for o in found],
                markers=True,
                colour_as=kind,
            )
            for kind, value in (("AR", ar_speedup), ("block", block_speedup))
        ]
        fixed = [float(DOCUMENTED.value(known[-1].ratio, k, drafting.c)) for k in grid]
        curves.append(Curve(DOCUMENTED.label, grid, fixed, documented=True))
    axis = Axis("Block length k (draft tokens per step)", "k", decimals=0, whole=True, chosen=drafting.k)
    return charts.speedup_curves(curves, axis, theme, caption=_blocks_caption(known, grid, drafting, row))


def _over_k(form: Form, alpha: float, grid: list[int], c: float) -> list[float]:
    return [float(form.value(alpha, k, c)) for k in grid]


def _blocks_caption(known: list[Own], grid: list[int], drafting: Drafting, row: Row | None) -> str:
    iid = _over_k(IID_BLOCK if drafting.one_pass else IID, drafting.alpha, grid, drafting.c)
    best = max(range(len(grid)), key=iid.__getitem__)
    kind = "block" if drafting.one_pass else "AR"
    model = f"With i.i.d. α {drafting.alpha:g} a {kind} drafter is fastest at k = {grid[best]}" + (
        ", the end of the axis: more is always more when a block costs one pass." if grid[best] == grid[-1] else "."
    )
    if not known or row is None:
        return model
    own_values = [drafting.speedup(o) for o in known]
    top = max(range(len(known)), key=own_values.__getitem__)
    return (
        f"{text.plain(_name(row))}, cut short, is fastest at K′ = {top + 1} "
        f"({text.number(own_values[top], 2)}); shorter blocks are implied, a lower bound. {model}"
    )


def over_alpha(drafting: Drafting, row: Row | None, theme: charts.Theme) -> charts.Chart:
    """The i.i.d. forms over α, with the run's implied α."""
    grid = np.linspace(0, 1, _POINTS)
    curves = [_curve(form, grid, drafting) for form in (IID, IID_BLOCK)]
    alpha = None if row is None else row.get("implied_alpha")
    marks = []
    if alpha is not None:
        form = IID_BLOCK if drafting.one_pass else IID
        speed = float(form.value(alpha, drafting.k, drafting.c))
        marks = [Mark(f"{_name(row)}, {forms.IMPLIED_ALPHA}", alpha, speed), *_observed(drafting, alpha)]
    caption = f"At k = {drafting.k} and c = {drafting.c:g}: AR draft {_at(IID, drafting)}, block draft " + (
        f"{_at(IID_BLOCK, drafting)}. This α is the chance that a draft token is accepted after those before it were; "
        "an accept ratio does not belong here."
    )
    axis = Axis("α of the i.i.d. model (not the accept ratio)", "alpha", chosen=drafting.alpha)
    return charts.speedup_curves(curves, axis, theme, marks=marks, caption=caption)
