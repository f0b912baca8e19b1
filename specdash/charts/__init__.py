"""Figures: rows of numbers in, plotly figures with captions and their data out. No files, no interface.

Every function takes the theme of the page it draws for and returns a ``Chart``; what cannot be drawn gives a chart
that says what is missing.
"""

from specdash.charts.answers import answer_times, share_reaching, stream_fill
from specdash.charts.base import Chart
from specdash.charts.blocks import Measured, position_gains, tau_by_block
from specdash.charts.caterpillar import prompt_caterpillar
from specdash.charts.depth import block_rtt_map, speed_by_block
from specdash.charts.errors import tau_intervals
from specdash.charts.gap import gap_split
from specdash.charts.lap import PARTS, lap_split
from specdash.charts.latency import Prompts, Side, latency_by_prompt, latency_ecdf
from specdash.charts.length import sigma_against_geometric, tau_by_dataset
from specdash.charts.live import tau_over_time
from specdash.charts.outcomes import geometric_fit, outcome_heatmap
from specdash.charts.palette import Theme, family_colour, run_colours
from specdash.charts.positions import acceptance_by_position, position_heatmap
from specdash.charts.prompts import tau_violins, within_share
from specdash.charts.responses import length_against_tau
from specdash.charts.speeds import Along, speed_bars, speed_lines
from specdash.charts.speedup import Axis, Curve, Mark, speedup_curves
from specdash.charts.strip import step_strip
from specdash.charts.throughput import rtt_bars, rtt_lines

__all__ = [
    "PARTS",
    "Along",
    "Axis",
    "Chart",
    "Curve",
    "Mark",
    "Measured",
    "Prompts",
    "Side",
    "Theme",
    "acceptance_by_position",
    "answer_times",
    "block_rtt_map",
    "family_colour",
    "gap_split",
    "geometric_fit",
    "lap_split",
    "latency_by_prompt",
    "latency_ecdf",
    "length_against_tau",
    "outcome_heatmap",
    "position_gains",
    "position_heatmap",
    "prompt_caterpillar",
    "rtt_bars",
    "rtt_lines",
    "run_colours",
    "share_reaching",
    "sigma_against_geometric",
    "speed_bars",
    "speed_by_block",
    "speed_lines",
    "speedup_curves",
    "step_strip",
    "stream_fill",
    "tau_by_block",
    "tau_by_dataset",
    "tau_intervals",
    "tau_over_time",
    "tau_violins",
    "within_share",
]
