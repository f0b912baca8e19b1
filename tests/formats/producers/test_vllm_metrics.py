"""vLLM's /metrics. Expected values are hand counts of the texts here."""

import pytest

from specdash import metrics
from specdash.schema import InputError, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read, read_files, recognised, row, sample, with_samples

NOISE = '# HELP python_gc_total x\n# TYPE python_gc_total counter\npython_gc_total{g="0"} 5.0\n'


def scrape(drafts, drafted, positions, engine="0", model="m", created=1.78143083e09, text=NOISE):
    own = f'engine="{engine}",model_name="{model}"'
    for name, value in (("num_drafts", drafts), ("num_draft_tokens", drafted), ("num_accepted_tokens", sum(positions))):
        text += f"# HELP vllm:spec_decode_{name}_total Number.\n# TYPE vllm:spec_decode_{name}_total counter\n"
        text += f"vllm:spec_decode_{name}_total{{{own}}} {float(value)}\n"
        text += f"# TYPE vllm:spec_decode_{name}_created gauge\n"
        text += f"vllm:spec_decode_{name}_created{{{own}}} {created}\n"
    for i, value in enumerate(positions):
        name = "vllm:spec_decode_num_accepted_tokens_per_pos"
        text += (
            f'{name}_total{{{own},position="{i}"}} {float(value)}\n{name}_created{{{own},position="{i}"}} {created}\n'
        )
    return text


ONE = scrape(100, 300, [80, 45, 25])
TWO = scrape(140, 420, [110, 60, 30])


def counted(steps, drafted, positions, block):
    return {
        "responses": None, "steps": steps, "drafted": drafted, "accepted": sum(positions),
        "per_position": positions, "block": block, "exposed": None,
    }  # fmt: skip


def test_one_scrape_counts_since_the_start(tmp_path):
    run = only(read_files(tmp_path, {"whatever": ONE}))
    assert row(run) == {"dataset": "eval"} | counted(100, 300, [80, 45, 25], 3)
    assert (run.k, run.semantics.span, run.config) == (3, Span.SINCE_START, {"model": "m"})
    pooled = metrics.run_rows(run, {}.get)[0][-1]
    assert (pooled["tau"], pooled["p"], pooled["c"]) == (2.5, [0.8, 0.45, 0.25], [0.8, 45 / 80, 25 / 45])


@pytest.mark.parametrize(
    ("before", "after"),
    [("metrics_before.prom", "metrics_after.prom"), ("c1.start.txt", "c1.end.txt"), ("pre", "post")],
)
def test_two_scrapes_are_a_difference(tmp_path, before, after):
    run = only(read_files(tmp_path, {after: TWO, before: ONE}))
    assert row(run)["steps"] == 40
    assert row(run)["per_position"] == [30, 15, 5]
    assert run.semantics.span is Span.DIFFERENCE


def test_several_pairs_in_one_folder(tmp_path):
    files = {"a.metrics_before.prom": ONE, "a.metrics_after.prom": TWO}
    files |= {"b.metrics_before.prom": TWO, "b.metrics_after.prom": scrape(150, 450, [119, 66, 33])}
    runs = read_files(tmp_path, files | {"other.prom": ONE})
    assert {name: row(run)["steps"] for name, run in runs.items()} == {"a.metrics": 40, "b.metrics": 10, "other": 100}


def test_engines_add_up_and_models_do_not(tmp_path):
    both = scrape(10, 30, [8, 4, 2]) + scrape(20, 60, [10, 5, 1], engine="1", text="")
    assert row(only(read_files(tmp_path, {"m": both})))["per_position"] == [18, 9, 3]
    models = both + scrape(5, 20, [4, 3, 2, 1], model="n", text="")
    runs = read_files(tmp_path / "b", {"x": models})
    assert {name: run.k for name, run in runs.items()} == {"x/m": 3, "x/n": 4}


def test_positions_are_numbers_spelled_as_text(tmp_path):
    hits = list(range(32, 0, -1))
    run = only(read_files(tmp_path, {"m": scrape(40, 1280, hits)}))
    assert (run.k, row(run)["per_position"], row(run)["block"]) == (32, hits, 32)


def test_exponents(tmp_path):
    run = only(read_files(tmp_path, {"m": ONE.replace(" 300.0", " 3e+02")}))
    assert row(run)["drafted"] == 300


def test_a_reset_is_no_decrease(tmp_path):
    run = only(read_files(tmp_path, {"before": TWO, "after": scrape(30, 90, [20, 10, 5], created=1.79e9)}))
    assert row(run) == {"dataset": "eval"} | counted(30, 90, [20, 10, 5], 3)
    assert codes(run) == ["counter_reset"]
    higher = only(read_files(tmp_path / "b", {"before": ONE, "after": scrape(140, 420, [110, 60, 30], created=1.79e9)}))
    assert (row(higher)["steps"], codes(higher)) == (140, ["counter_reset"])


def test_a_timeline_adds_up_over_a_reset(tmp_path):
    later = scrape(30, 90, [20, 10, 5], created=1.79e9)
    run = only(read_files(tmp_path, {"1796099050.5.prom": ONE, "1796099051.5.prom": TWO, "1796099052.prom": later}))
    assert row(run)["steps"] == 40 + 30


def test_drafts_of_varying_length(tmp_path):
    run = only(read_files(tmp_path, {"m": scrape(100, 250, [80, 45, 25])}))
    assert row(run)["block"] is None
    assert metrics.run_rows(run, {}.get)[0][-1]["c"] is None
    name = "vllm:spec_decode_num_draft_tokens_per_pos_total"
    counted = scrape(100, 250, [80, 45, 25]) + "".join(
        f'{name}{{position="{i}"}} {n}\n' for i, n in enumerate([100, 90, 60])
    )
    exposed = only(
        read_files(tmp_path / "b", {"m": counted.replace(f"{name}{{", f'{name}{{engine="0",model_name="m",')})
    )
    assert metrics.run_rows(exposed, {}.get)[0][-1]["p_exposed"] == [0.8, 45 / 90, 25 / 60]


def test_without_positions(tmp_path):
    text = "".join(line + "\n" for line in ONE.splitlines() if "per_pos" not in line)
    run = only(read_files(tmp_path, {"m": text}))
    assert (run.k, row(run)["per_position"], row(run)["accepted"]) == (None, None, 150)


def test_nothing_drafted(tmp_path):
    with pytest.raises(NothingToRead, match="nothing was drafted"):
        read_files(tmp_path, {"m": scrape(0, 0, [0, 0, 0])})
    with pytest.raises(NothingToRead):
        read_files(tmp_path / "b", {"before": ONE, "after": ONE})
    assert recognised(tmp_path, NOISE) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE.replace("} 300.0", "} x"), "metrics.prom, line 11: not a Prometheus sample"),
        (ONE.replace("} 300.0", "} -3"), "vllm:spec_decode_num_draft_tokens_total is not a count; found -3;"),
        (ONE.replace("} 300.0", "} 30.5"), "is not a count; found 30.5"),
        (ONE.replace("} 300.0", "} NaN"), "is not a count; found nan"),
        (ONE.replace('position="1"', 'position="7"'), "are not 0, 1, 2, …; found 0, 2, 7"),
        (ONE.replace("} 300.0", "} 100.0"), "more tokens accepted than drafted; found 150 of 100"),
        (ONE + ONE, "a series stands there twice"),
        (scrape(100, 300, [45, 80, 25]), "accepted counts rise with the position"),
    ],
)
def test_refused(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        read_files(tmp_path, {"metrics.prom": text})
    assert message in str(error.value)


@with_samples
def test_samples(tmp_path):
    dp2 = read(sample("own-vllm-dp2"), tmp_path / "dp2")
    assert row(dp2["metrics"])["steps"] == dp2["responses"].counts["steps"].sum() == 737 + 773
    assert row(dp2["metrics"])["per_position"] == [546 + 572, 487 + 450, 433 + 374]
    dspark = only(read(sample("vllm-prometheus-dspark-miaai"), tmp_path / "dspark"))
    assert row(dspark)["accepted"] == sum(row(dspark)["per_position"])


def test_several_engines_are_told_with_what_each_would_say(tmp_path):
    """Their series add up; by hand (110 + 30)/(140 + 60), 110/140 and 30/60."""
    other = scrape(60, 180, [20, 8, 2], engine="1", text="")
    run = only(read_files(tmp_path, {"m": scrape(140, 420, [70, 30, 10]) + other}))
    assert row(run)["steps"] == 200
    told = {warning.code: warning.message for warning in run.warnings}["several_engines"]
    assert told == "2 engines, added up: τ = 1.700; alone 1.786 of engine 0, 1.500 of engine 1"


def test_an_engine_that_drafted_nothing_is_none(tmp_path):
    run = only(read_files(tmp_path, {"m": ONE + scrape(0, 0, [0, 0, 0], engine="1", text="")}))
    assert codes(run) == []


def test_engines_of_other_models_are_of_other_runs(tmp_path):
    runs = read_files(tmp_path, {"m": ONE + scrape(60, 180, [20, 8, 2], model="n", engine="1", text="")})
    assert [codes(run) for run in runs.values()] == [[], []]


EXAMPLES = {
    "vllm-metrics": ONE,
}
