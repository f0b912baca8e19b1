"""Step 2: the acceptance length of every response.

tau of a response is the effect of its prompt plus copy noise. The effect is a monotone curve of the prompt's
normal score; the noise has a log-normal scale by prompt, a trend with the effect and a little skew. The nodes
of the curve and the parameters of the noise are fitted to the printed columns by least squares.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import least_squares
from scipy.stats import norm

from .tables import COPIES, Floats, K, Mask, Tables

NODES = np.array([-3.4, -2.1, -1.4, -0.7, 0.0, 0.7, 1.4, 2.1, 3.4])
SLOPES = NODES.size - 1
SMOOTH, ALIKE = 0.3, 0.15
STATISTICS = {
    "response_mean": 0.002,
    "response_std": 0.005,
    "response_p10": 0.008,
    "response_p50": 0.008,
    "response_p90": 0.008,
    "within_share_percent": 0.25,
    "mean_copy_std": 0.005,
    "mean_copy_range": 0.008,
    "mean_copy_max": 0.008,
    "mean_copy_min": 0.008,
}
SCALES = np.array(list(STATISTICS.values()))
LOWEST, HIGHEST, MARGIN = 1.1, K + 0.9, 0.6
MIDDLE, REACH = 4.45, 2.85
STEP = 0.01


@dataclass(frozen=True)
class Draws:
    """The fixed random draws of one dataset, the same at every trial of the fit.

    Attributes:
        score: Normal score of the prompts.
        scale: Normal score of the prompts' noise scale.
        noise: Standard normal noise by prompt and copy.
        present: Which copies are in the log.
    """

    score: Floats
    scale: Floats
    noise: Floats
    present: Mask


def draw(rng: np.random.Generator, prompts: int, absent: tuple[tuple[int, int], ...]) -> Draws:
    """Draw prompts' normal scores, noise scales and copy noise, and mark the absent copies."""
    grid = norm.ppf((np.arange(prompts) + 0.5) / prompts)
    noise = rng.normal(size=(prompts, COPIES))
    present = np.ones(noise.shape, dtype=bool)
    for question, copy in absent:
        present[question, copy] = False
    noise = (noise - noise.mean()) / noise.std()
    return Draws(rng.permutation(grid), rng.permutation(grid), noise, present)


def curve(parameters: Floats, draws: Draws) -> Floats:
    """Return tau by prompt and copy under the model.

    Args:
        parameters: The middle of the curve, the logarithms of its slopes, the logarithm of the noise scale,
            its spread over prompts, its trend along the curve, and the skew of the noise.
        draws: The random draws.
    """
    middle, slopes = parameters[0], np.exp(parameters[1 : 1 + SLOPES])
    spread, varied, trend, skew = parameters[1 + SLOPES :]
    heights = np.concatenate(([0.0], np.cumsum(slopes * np.diff(NODES))))
    effect = middle - heights[SLOPES // 2] + PchipInterpolator(NODES, heights)(draws.score)
    scale = np.exp(spread + varied * draws.scale + trend * draws.score)
    noise = draws.noise + skew * (draws.noise**2 - 1)
    return squashed(effect[:, None] + scale[:, None] * noise)


def squashed(tau: Floats) -> Floats:
    """Bend values that come near the ends of the range, so that none reaches them."""
    over = np.maximum(tau - (HIGHEST - MARGIN), 0) / MARGIN
    under = np.maximum(LOWEST + MARGIN - tau, 0) / MARGIN
    inner = np.clip(tau, LOWEST + MARGIN, HIGHEST - MARGIN)
    return np.asarray(inner + MARGIN * ((1 - np.exp(-over)) - (1 - np.exp(-under))))


def statistics(tau: Floats, present: Mask) -> Floats:
    """Compute the printed response and copy columns, in the order of STATISTICS."""
    flat = tau[present]
    masked = np.where(present, tau, np.nan)
    within = np.nansum((masked - np.nanmean(masked, axis=1, keepdims=True)) ** 2) / flat.size
    top, bottom = np.nanmax(masked, axis=1).mean(), np.nanmin(masked, axis=1).mean()
    low, median, high = np.percentile(flat, [10, 50, 90])
    copy_std = np.nanstd(masked, axis=1, ddof=1).mean()
    share = 100 * within / flat.var()
    return np.array([flat.mean(), flat.std(), low, median, high, share, copy_std, top - bottom, top, bottom])


def targets(tables: Tables, name: str) -> Floats:
    """Return the printed values of one dataset, in the order of STATISTICS."""
    return np.array([tables.value(name, column) for column in STATISTICS])


def first_guesses(goal: Floats) -> list[Floats]:
    """Return starts of the fit: a straight line, and two with flatter ends."""
    level = float(np.log(goal[1] * np.sqrt(1 - goal[5] / 100)))
    guesses = []
    for flat in (0.0, 0.7, 1.5):
        slopes = level + flat * np.array([-2, -1, 0, 0.5, 0.5, 0, -1, -2])
        guesses.append(np.array([goal[3], *slopes, np.log(goal[6]), 0.2, 0.0, 0.0]))
    return guesses


def fit(goal: Floats, draws: Draws, starts: list[Floats]) -> Floats:
    """Fit the curve to the wanted statistics.

    Args:
        goal: The wanted statistics, in the order of STATISTICS.
        draws: The random draws.
        starts: Parameters to start from; the best end is taken.

    Returns:
        The fitted parameters. A weak penalty keeps neighbouring slopes alike, so that the density is smooth,
        and another keeps tau away from the ends of its range.
    """

    def residuals(parameters: Floats) -> Floats:
        tau = curve(parameters, draws)
        misfit = (statistics(tau, draws.present) - goal) / SCALES
        slopes = parameters[1 : 1 + SLOPES]
        bends = np.concatenate([SMOOTH * np.diff(slopes, 2), ALIKE * (slopes - slopes.mean())])
        noise = 0.3 * parameters[2 + SLOPES :]
        extremes = np.maximum(np.abs(tau - MIDDLE) - REACH, 0)
        return np.concatenate([misfit, bends, noise, [30 * np.sqrt((extremes**2).mean() + 1e-12)]])

    def jacobian(parameters: Floats) -> Floats:
        moves = STEP * np.eye(parameters.size)
        return np.array([residuals(parameters + m) - residuals(parameters - m) for m in moves]).T / (2 * STEP)

    ends = [least_squares(residuals, start, jac=jacobian, x_scale=0.1, max_nfev=150) for start in starts]
    return np.asarray(min(ends, key=lambda end: end.cost).x)
