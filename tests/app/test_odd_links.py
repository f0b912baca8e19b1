"""Links that say what cannot be: told in a sentence above the page, never a number in silence."""

import pytest


@pytest.mark.parametrize(
    ("page", "query", "told"),
    [
        ("throughput", {"rtt": ["25", "50"]}, "It sets rtt more than once, to 25, 50: see what is shown here."),
        ("throughput", {"RTT": "50"}, "It sets RTT, which is spelled rtt, so it sets nothing."),
        ("throughput", {"rtt": ""}, "RTT of a hop (ms) cannot be empty, as this link says; it is 25 here."),
        ("throughput", {"ci": "maybe"}, "95% intervals are true or false, not maybe; they are shown here."),
        (
            "throughput",
            {"run": ["7_draft"] * 2},
            "It sets run more than once, to 7_draft, 7_draft: see what is shown here.",
        ),
        ("step_outcomes", {"fit": "GSM8K"}, "Of cannot be GSM8K, as this link says; it is pooled here."),
        (
            "draft_positions",
            {"lines": ["families", "<b>"]},
            "Lines beside the datasets cannot be <b>, as this link says; it is families here.",
        ),
    ],
)
def test_a_link_that_says_what_cannot_be(page, query, told, dashboard):
    errors = [text for text in dashboard("reference", **query).page(page).said() if text.startswith("✕")]
    assert len(errors) == 1 and errors[0].endswith(told)


@pytest.mark.parametrize("query", [{"rtt": "1e2"}, {"ds": ["gsm8k", "alpaca"]}, {"ci": "FALSE"}, {"utm_source": "x"}])
def test_a_link_that_says_what_can_be(query, dashboard):
    assert not [text for text in dashboard("reference", **query).page("throughput").said() if text.startswith("✕")]
