"""The page of prompts: ranks, search, copies, one response, all from a link."""

import csv
import io
import json
from statistics import mean

import pytest

from tests import evaluations
from tests.app.dashboard import Dashboard

ENTRIES = {path: content for path, content in evaluations.thirty_prompts().files.items() if isinstance(content, str)}
LINES = [json.loads(line) for line in ENTRIES["ranked/samples.jsonl"].splitlines()]
STEPS = list(csv.DictReader(io.StringIO(ENTRIES["ranked/spec_log.csv"])))


def steps_of(request):
    return [(int(row["drafted"]), int(row["accepted"])) for row in STEPS if row["request_id"] == str(request)]


def tau_of(request):
    return 1 + mean(accepted for _, accepted in steps_of(request))


def frames(shown):
    """The tables on the page by what a screen reader is told of them."""
    return {frame.proto.alt.partition(":")[0]: frame.value for frame in shown.app.dataframe if frame.proto.alt}


def labels(shown):
    table = frames(shown)["Prompts"]
    return [f"{dataset} · {prompt}" for dataset, prompt in zip(table["dataset"], table["prompt"], strict=True)]


def requests_of(dataset, prompt):
    return [line["request_id"] for line in LINES if (line["dataset"], line["question_id"]) == (dataset, prompt)]


def chosen(shown):
    (box,) = (box for box in shown.app.selectbox if box.key == "prompt")
    return box.value


def test_prompts_are_ranked_hardest_first(dashboard):
    shown = dashboard("thirty").page("prompts")
    table = frames(shown)["Prompts"]
    assert len(table) == 60
    assert list(table["shrunken"]) == sorted(table["shrunken"])
    assert (table["low"] < table["shrunken"]).all() and (table["shrunken"] < table["high"]).all()
    for row in table.to_dict("records")[:5]:
        requests = requests_of(row["dataset"], row["prompt"])
        assert row["copies"] == len(requests) == 3
        assert row["mean"] == pytest.approx(mean(map(tau_of, requests)))
        assert row["steps"] == sum(len(steps_of(request)) for request in requests)
    assert chosen(shown) == labels(shown)[0]  # the hardest is looked at first


def test_a_link_leads_to_one_response_of_one_prompt(dashboard):
    link = {
        "prompt": "alpaca · task-07",
        "copy": "copy 2",
        "find_prompt": "task-0",
        "ends": "5",
        "ds": ["alpaca", "gsm8k"],
    }
    shown = dashboard("thirty", **link).page("prompts")
    assert chosen(shown) == "alpaca · task-07"
    assert labels(shown) and all("task-0" in label for label in labels(shown))
    copies = frames(shown)["Copies of the prompt"]
    requests = requests_of("alpaca", "task-07")
    assert list(copies["request"]) == list(map(str, requests))
    assert list(copies["τ_r"]) == pytest.approx([tau_of(request) for request in requests])
    (strip,) = (frame.value for frame in shown.app.dataframe if list(frame.value.columns)[:2] == ["step", "drafted"])
    assert list(zip(strip["drafted"], strip["accepted"], strict=True)) == steps_of(requests[2])
    emitted = 1 + sum(1 + accepted for _, accepted in steps_of(requests[2]))
    assert strip["tokens"].iloc[-1] == emitted
    shown.app.run()
    assert chosen(shown) == "alpaca · task-07"


def test_a_request_is_found_by_its_whole_id(dashboard):
    shown = dashboard("thirty", find_prompt="100").page("prompts")
    line = next(line for line in LINES if line["request_id"] == 100)
    assert labels(shown) == [f"{line['dataset']} · {line['question_id']}"]


def test_what_is_looked_at_stays_while_something_else_is_searched(dashboard):
    shown = dashboard("thirty", prompt="gsm8k · task-12").page("prompts")
    shown.app.text_input(key="find_prompt").input("task-2").run()
    assert chosen(shown) == "gsm8k · task-12"
    shown.app.text_input(key="find_prompt").input("nothing like it").run()
    assert "ℹNo prompt and no request has this in its id." in shown.said()
    assert chosen(shown) == "gsm8k · task-12"


def test_another_prompt_by_hand(dashboard):
    shown = dashboard("thirty", prompt="gsm8k · task-12", copy="copy 1").page("prompts")
    shown.app.selectbox(key="prompt").select("alpaca · task-03").run()
    wanted = list(map(str, requests_of("alpaca", "task-03")))
    assert list(frames(shown)["Copies of the prompt"]["request"]) == wanted
    assert not any("There is no" in said for said in shown.said())


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"prompt": "gsm8k · <b>task</b>"}, "✕There is no prompt gsm8k · <b>task</b> here, which this link names."),
        ({"prompt": "gsm8k · task-12", "copy": "copy 9"}, "✕There is no copy copy 9 here, which this link names."),
        (
            {"ds": "alpaca", "prompt": "gsm8k · task-12"},
            "✕There is no prompt gsm8k · task-12 here, which this link names.",
        ),
        ({"ends": "0"}, "✕Prompts at either end cannot be 0, as this link says; it is 15 here."),
    ],
)
def test_a_link_to_what_is_not_there_says_so(link, said, dashboard):
    shown = dashboard("thirty", **link).page("prompts")
    assert said in shown.said()
    assert frames(shown)["Copies of the prompt"] is not None


def test_the_order_of_the_reference_is_invented(dashboard):
    shown = dashboard("reference").page("prompts")
    assert shown.said()[-1] == "ℹNot available: the order of steps is invented."
    assert len(frames(shown)["Prompts"]) == 3030
    assert len(frames(shown)["Copies of the prompt"]) == 10


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("bare", "ℹNo samples say which prompt a response answers, so there are no prompts to tell apart."),
        ("counters", "ℹThis page needs responses with their prompts; this run holds counters without responses."),
    ],
)
def test_a_run_without_prompts_says_so(name, sentence, dashboard):
    shown = dashboard(name).page("prompts")
    assert shown.said()[-1] == sentence
    assert not frames(shown)


def test_names_of_any_kind_can_be_chosen(dashboard, ids):
    shown = dashboard("odd").page("prompts")
    for label in shown.app.selectbox(key="prompt").options[:6]:
        found = Dashboard({"eval": ids["odd"], "run": evaluations.ODD_RUN, "prompt": label}).page("prompts")
        assert chosen(found) == label
        assert not any("There is no" in said for said in found.said())
