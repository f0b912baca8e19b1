"""What the benchmarking page documents, beside what holds: the values and rules that this project does not repeat."""

from __future__ import annotations

from dataclasses import dataclass

PAGE = "How We Benchmark DeepSpec (SeekSpeed)"
"""The page, called S2 in labels."""


@dataclass(frozen=True)
class Correction:
    """One entry.

    Attributes:
        what: What it is about.
        documented: As the page has it.
        correct: What holds.
        reason: Why, in one line.
    """

    what: str
    documented: str
    correct: str
    reason: str


CORRECTIONS = (
    Correction(
        "p of the worked example",
        "2.3e-7",
        "2.70e-7",
        "t 5.794 with 60.05 degrees of freedom; 2.3e-7 would need t 5.836. The conclusion stands.",
    ),
    Correction(
        "degrees of freedom of the worked example", "60.1", "60.05", "Welch–Satterthwaite: 60.0474, which prints 60.0."
    ),
    Correction(
        "gain of the worked example",
        "16.9 % faster",
        "speed-up 1.203 (95 % 1.129 to 1.282)",
        "The latency is 16.9 % lower (−240 ms, 95 % −322.9 to −157.1); speed is its reciprocal.",
    ),
    Correction(
        "speed-up",
        "(1 + kα) − c(1 + k)",
        "τ/(1 + kc) for an AR draft, τ/(1 + c) for a block draft",
        "It subtracts a cost from a number of tokens; at k 10, c 0.15, α 0 it is −0.65.",
    ),
    Correction(
        "speed-up at α 0.8, k 5, c 0.15",
        "4.100",
        "2.857 (AR), 4.348 (block), 2.108 (AR, i.i.d. α)",
        "Which of them holds depends on the drafter and on which α is meant.",
    ),
    Correction(
        "break-even α at k 5, c 0.15",
        "0.180",
        "accept ratio 0.150 (AR) or 0.030 (block); i.i.d. α 0.432 (AR)",
        "As an accept ratio it is c at every k, for an AR draft.",
    ),
    Correction(
        "ceiling", "1 + kα", "1 + kα = τ", "With α = accepted/drafted it is the measured τ itself, so no ceiling of it."
    ),
    Correction(
        "α",
        "accepted / drafted",
        "accept ratio (prefix), not α",
        "It falls with k. The implied α of the i.i.d. model is another number: 0.772 where the ratio is 0.405.",
    ),
    Correction(
        "tokens per step",
        "emitted / accepted",
        "τ = 1 + accepted / drafts",
        "The documented ratio is τ/(τ − 1): it falls as drafts get better, from 2.0 at τ 2 to 1.25 at τ 5.",
    ),
    Correction(
        "a server without num_emitted_tokens_total",
        "does not speculate",
        "is a current one",
        "Only V0 exported it; V1 exports num_drafts, from which the emitted tokens follow.",
    ),
    Correction(
        "reading a counter",
        "name, blanks, number; the value as it is",
        "sum over labelled series; difference of two scrapes",
        "Every line carries labels, and counters run since the server started, for all its clients.",
    ),
    Correction(
        "draft cost c of DSpark",
        "0.15 a token",
        "once a step",
        "A block drafter makes one pass a step, not k passes.",
    ),
    Correction(
        "observed / speed-up below 0.6",
        "over 40 % of the gain is lost",
        "compare with the form that fits the drafter",
        "At α 0.8, k 5, c 0.15 an AR draft at its ceiling would be shown at 70 %.",
    ),
    Correction(
        "p of 0.05 or more", "no effect measured", "an interval, or equivalence within a margin", "Absence of proof."
    ),
    Correction(
        "test of an A/B of the same prompts",
        "Welch's t-test on latencies",
        "paired t-test on log ratios by prompt",
        "Welch ignores what prompts have in common; latencies are skewed.",
    ),
    Correction(
        "launching a speculating server",
        "--speculative-model, --num-speculative-tokens, --use-v2-block-manager",
        '--speculative-config \'{"method": …, "num_speculative_tokens": …}\'',
        "The documented flags are V0's.",
    ),
)
"""In the order of the Methods page."""
