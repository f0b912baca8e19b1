"""What SGLang's "accept rate" is a rate of: its versions differ, and only the numbers can tell."""

from __future__ import annotations

from specdash.schema import RunWarning

OPAQUE = RunWarning(
    "accept_rate_opaque",
    "SGLang's accept rate is left out: versions divide by other things, and which one did is only known with the "
    "draft tokens of a step (--k N)",
)


def meanings(length: str, rate: str, k: int | None) -> dict[str, float]:
    """Return the ratios that an accept rate can be, by our names; empty when that is not known.

    Older versions print length / num_draft_tokens, bonus token in above and below: our verify rate. Newer ones print
    (length − 1) / (num_draft_tokens − 1): our acceptance ratio. Where every draft is accepted whole, both are 1.

    Args:
        length: Acceptance length as printed.
        rate: Accept rate as printed.
        k: Draft tokens of a step, num_draft_tokens − 1.
    """
    if not k:
        return {}
    formulas = {"verify_rate": (float(length), k + 1), "acceptance_ratio": (float(length) - 1, k)}
    half = {text: 0.5 * 10 ** -len(text.partition(".")[2]) for text in (length, rate)}
    return {
        name: float(rate)
        for name, (above, below) in formulas.items()
        if abs(float(rate) - above / below) <= half[rate] + half[length] / below + 1e-9
    }
