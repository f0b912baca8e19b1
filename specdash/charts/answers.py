"""What a user gets: the share of responses that reach a speed, the time of an answer, many streams at once.

Rows are those of ``specdash.speed.answers``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import HEIGHT, Chart, empty, figure, log_axis, upright
from specdash.charts.palette import Theme, colours
from specdash.charts.series import Line, Series, family_keys, lines, named, series
from specdash.charts.text import Row

_REACH = text.hover("%{y:.1f} % reach %{x:,.4g} tok/s", "%{meta[1]}", name="meta")


def share_reaching(
    rows: Iterable[Row], theme: Theme, *, speeds: Sequence[float], goal: float, families: Iterable[Row] = ()
) -> Chart:
    """Share of responses that reach a speed, over the speed, a line a dataset.

    Args:
        rows: Datasets, the pooled row among them; "reach_over" along the speeds, "reach" at the goal.
        theme: Page it is for.
        speeds: Shape (n,), in tok/s, ascending.
        goal: Speed that is marked and that the caption speaks of, in tok/s.
        families: Rows by family to draw too.

    Returns:
        Its data are ``dataset, family, responses, tokens_per_second, share``.
    """
    drawn = [s for s in series(rows, theme, families) if s.row.get("reach_over") is not None]
    if not drawn:
        return empty("No responses one by one, so no share of them.", theme)
    curves = [Line(s, speeds, [100 * share for share in s.row["reach_over"]]) for s in drawn]
    traces, entries = lines(curves, _REACH, markers=False)
    shares = [(name, share) for name, share in named(drawn, "reach") if share is not None]
    reach = text.spread(shares, 0, percent=True)
    return Chart(
        figure(
            traces,
            theme,
            height=HEIGHT,
            legend=entries,
            shapes=[upright(goal, theme)],
            xaxis={"title": {"text": "tok/s of one stream, τ<sub>r</sub> over the lap"}, "rangemode": "tozero"},
            yaxis={"title": {"text": "responses that reach it (%)"}, "range": [0, 102]},
        ),
        f"{text.sized(goal)} tok/s are reached by {reach} of the responses.",
        _reach_data(drawn, speeds),
    )


def _reach_data(drawn: Iterable[Series], speeds: Sequence[float]) -> pl.DataFrame:
    cells = [
        (s.name, s.family, s.row["timed"], x, share)
        for s in drawn
        for x, share in zip(speeds, s.row["reach_over"], strict=True)
    ]
    texts = {"dataset": pl.String, "family": pl.String, "responses": pl.Int64}
    return pl.DataFrame(cells, schema=texts | {"tokens_per_second": pl.Float64, "share": pl.Float64}, orient="row")


def answer_times(rows: Iterable[Row], theme: Theme, *, tokens: int, about: str, families: Iterable[Row] = ()) -> Chart:
    """Time of an answer, a mark a dataset at the median with a bar from the 5th to the 95th percentile.

    Args:
        rows: Datasets, the pooled row among them; "time_s", "time_sd_s", "time_p5_s", "time_p50_s", "time_p95_s".
        theme: Page it is for.
        tokens: Length of the answer, for words.
        about: A sentence on how steps follow each other, which the caption ends with.
        families: Rows by family to show too.

    Returns:
        Its data are ``dataset, family`` and the times in s.
    """
    drawn = [s for s in series(rows, theme, families) if s.row.get("time_p50_s") is not None]
    if not drawn:
        return empty("No time of an answer: it needs the spread over steps and a lap that takes time.", theme)
    keys = family_keys(drawn)
    return Chart(
        figure(
            [_times(drawn, theme), *keys],
            theme,
            height=rowwise.height(len(drawn)),
            legend=len(keys),
            xaxis={
                "title": {"text": f"time of {tokens:,} tokens (s)<br>(median, 5th to 95th percentile)"},
                "rangemode": "tozero",
            },
            yaxis=rowwise.names_axis(drawn),
        ),
        text.sentences(
            [
                f"{text.plural(tokens, 'token')} take {text.spread(named(drawn, 'time_s'), 1, 's')} in the mean.",
                f"The standard deviation is {text.spread(named(drawn, 'time_sd_s'), 2, 's')}.",
                about,
            ]
        ),
        _times_data(drawn),
    )


def _times(drawn: Sequence[Series], theme: Theme) -> go.Scatter:
    middle = [s.row["time_p50_s"] for s in drawn]
    return go.Scatter(
        x=middle,
        y=list(range(len(drawn))),
        mode="markers",
        showlegend=False,
        marker={"color": [s.colour for s in drawn], "size": 9},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [s.row["time_p95_s"] - m for s, m in zip(drawn, middle, strict=True)],
            "arrayminus": [m - s.row["time_p5_s"] for s, m in zip(drawn, middle, strict=True)],
            "color": colours(theme).muted,
            "thickness": 2,
            "width": 5,
        },
        customdata=[
            [*s.about, s.row["time_s"], s.row["time_sd_s"], s.row["time_p5_s"], s.row["time_p95_s"]] for s in drawn
        ],
        hovertemplate=text.hover(
            "mean %{customdata[2]:,.2f} s, sd %{customdata[3]:,.2f} s",
            "5 % take at most %{customdata[4]:,.2f} s, 5 % more than %{customdata[5]:,.2f} s",
            "%{customdata[1]}",
        ),
    )


def _times_data(drawn: Iterable[Series]) -> pl.DataFrame:
    keys = ("time_s", "time_sd_s", "time_p5_s", "time_p50_s", "time_p95_s")
    rows = [(s.name, s.family, *(s.row[key] for key in keys)) for s in drawn]
    schema = {"dataset": pl.String, "family": pl.String} | dict.fromkeys(keys, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def stream_fill(
    name: str, theme: Theme, *, streams: Sequence[int], cells: Sequence[Row], chosen: int, caveat: str
) -> Chart:
    """Tokens per second of all streams together and of each, against how many are in flight.

    Args:
        name: Whose acceptance lengths they are.
        theme: Page it is for.
        streams: Shape (n,), numbers of streams, ascending.
        cells: For each number "aggregate", "per_stream", "cap" (tok/s) and "saturation" (streams).
        chosen: Number of streams that is marked, one of them.
        caveat: What is taken for granted, in a sentence, which the caption ends with.

    Returns:
        Its data are ``streams, aggregate, per_stream, cap``.
    """
    if not cells or cells[0]["aggregate"] is None:
        return empty("No acceptance length at this block length, so no speed.", theme)
    look = colours(theme)
    hover = "%{y:,.2f} tok/s with %{x:,} streams<extra></extra>"
    drawn = [
        ("all streams", "aggregate", look.runs[0], "solid", 3),
        ("each stream", "per_stream", look.runs[3], "dot", 2),
    ]
    if cells[0]["cap"] is not None:
        drawn.append(("what the busiest device allows", "cap", look.ink, "dash", 2))
    traces = [
        go.Scatter(
            x=list(streams),
            y=[cell[key] for cell in cells],
            mode="lines",
            name=label,
            line={"color": colour, "dash": dash, "width": width},
            hovertemplate=f"<b>{label}</b><br>{hover}",
        )
        for label, key, colour, dash, width in drawn
    ]
    values = [cell[key] for cell in cells for _, key, *_ in drawn]
    return Chart(
        figure(
            traces,
            theme,
            height=HEIGHT - 40,
            legend=len(traces),
            shapes=[upright(chosen, theme)],
            xaxis=log_axis("streams in flight, log scale", streams[0], streams[-1]),
            yaxis=log_axis("tok/s, log scale", min(values), max(values)),
        ),
        _fill_caption(name, cells[list(streams).index(chosen)], chosen, caveat),
        _fill_data(streams, cells),
    )


def _fill_caption(name: str, cell: Row, chosen: int, caveat: str) -> str:
    with_them = (
        f"{text.plural(chosen, 'stream')} of {text.plain(name)} make {text.sized(cell['aggregate'])} tok/s together, "
        f"{text.sized(cell['per_stream'])} each."
    )
    if cell["saturation"] is None:
        return text.sentences([with_them, "Nothing is ever busy here, so streams never wait for each other.", caveat])
    limit = f"From {text.sized(cell['saturation'])} streams on they wait for each other; no more than "
    return text.sentences([with_them, f"{limit}{text.sized(cell['cap'])} tok/s fit.", caveat])


def _fill_data(streams: Sequence[int], cells: Sequence[Row]) -> pl.DataFrame:
    rows = [(n, cell["aggregate"], cell["per_stream"], cell["cap"]) for n, cell in zip(streams, cells, strict=True)]
    numbers = dict.fromkeys(("aggregate", "per_stream", "cap"), pl.Float64)
    return pl.DataFrame(rows, schema={"streams": pl.Int64} | numbers, orient="row")
