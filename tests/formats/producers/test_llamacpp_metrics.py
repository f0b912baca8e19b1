"""llama.cpp's /metrics. Expected values are hand counts of the texts here."""

import pytest

from specdash import metrics
from specdash.schema import NothingToRead, Span
from tests.formats.producers.reading import TRIMMED, only, read, read_files, recognised, row, sample, with_samples


def scrape(drafts, drafted, accepted, positions=()):
    text = "# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total 46\n"
    for name, value in {"draft_tokens": drafted, "accepted_tokens": accepted, "drafts": drafts}.items():
        text += f"# TYPE llamacpp:spec_decode_num_{name}_total counter\nllamacpp:spec_decode_num_{name}_total {value}\n"
    for i, value in enumerate(positions):
        text += f'llamacpp:spec_decode_num_accepted_tokens_per_pos_total{{position="{i}"}} {value}\n'
    return text


def test_a_scrape(tmp_path):
    run = only(read_files(tmp_path, {"m.prom": scrape(10, 30, 15, [8, 5, 2])}))
    assert (row(run)["block"], row(run)["per_position"], run.semantics.span) == (3, [8, 5, 2], Span.SINCE_START)
    assert metrics.run_rows(run, {}.get)[0][-1]["tau"] == 2.5


def test_a_server_that_does_not_speculate_is_no_empty_run(tmp_path):
    assert recognised(tmp_path, scrape(0, 0, 0)) == ["llamacpp-metrics"]
    with pytest.raises(NothingToRead, match="does not speculate exports these counters too, at 0"):
        read_files(tmp_path, {"m.prom": scrape(0, 0, 0)})


def test_a_load_of_a_real_server(tmp_path):
    run = read(TRIMMED / "llamacpp-draft" / "load_t0_c4", tmp_path)["metrics"]
    # differences of the two scrapes
    assert (row(run)["steps"], row(run)["drafted"], row(run)["accepted"]) == (1869, 7381, 2675)
    assert row(run)["per_position"] == [1592 - 612, 1041 - 410, 900 - 348, 822 - 310]
    assert run.semantics.span is Span.DIFFERENCE


@with_samples
def test_samples(tmp_path):
    assert row(read(sample("own-llamacpp-draft"), tmp_path)["load_t0_c4/metrics"])["steps"] == 1869


EXAMPLES = {
    "llamacpp-metrics": scrape(10, 30, 15, [8, 5, 2]),
}
