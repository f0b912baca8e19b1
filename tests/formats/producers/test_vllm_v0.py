"""Gauges of vLLM's engine V0: its counters are inflated, here a thousandfold."""

import pytest

from specdash.schema import InputError, NothingToRead
from tests.formats.producers.reading import codes, only, read_files, recognised, row

TEXT = """# HELP vllm:spec_decode_draft_acceptance_rate x
vllm:spec_decode_draft_acceptance_rate{model_name="m"} 0.642
vllm:spec_decode_efficiency{model_name="m"} 0.598
vllm:spec_decode_num_accepted_tokens_total{model_name="m"} 8.5e+06
vllm:spec_decode_num_draft_tokens_total{model_name="m"} 1.3e+07
vllm:spec_decode_num_emitted_tokens_total{model_name="m"} 1.06e+07
"""


def test_gauges(tmp_path):
    assert recognised(tmp_path, TEXT) == ["vllm-v0-metrics"]
    run = only(read_files(tmp_path, {"m": TEXT}))
    assert (row(run)["acceptance_ratio"], row(run)["tau"], codes(run)) == (0.642, None, ["k_unknown"])
    known = only(read_files(tmp_path / "k", {"m": TEXT}, config={"k": 3}))
    assert (row(known)["tau"], known.k) == (pytest.approx(2.392), 3)  # 0.598 · 4


def test_before_the_first_request(tmp_path):
    with pytest.raises(NothingToRead):
        read_files(tmp_path, {"m": TEXT.replace(" 0.642", " NaN").replace(" 0.598", " NaN")})


def test_refused(tmp_path):
    with pytest.raises(InputError, match=r"vllm:spec_decode_draft_acceptance_rate is not a ratio; found 1\.5"):
        read_files(tmp_path, {"m": TEXT.replace("0.642", "1.5")})


EXAMPLES = {
    "vllm-v0-metrics": TEXT,
}
