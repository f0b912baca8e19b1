"""Two columns of latencies: units, gaps, what is refused."""

import pytest

from specdash.formats.producers import PRODUCERS
from specdash.schema import Granularity, InputError
from tests.formats.files import stored
from tests.formats.producers.reading import read_files


def seconds(run):
    return run.latencies["e2e_s"].to_list()


@pytest.mark.parametrize(
    "content",
    [
        "baseline_ms,spec_ms\n1500,750\n,500\n2000,1000\n",
        "spec_s,baseline_s\n0.75,1.5\n0.5,\n1,2\n",
        '\ufeff"baseline (ms)","speculative (ms)"\r\n1500,750\r\n\r\n,500\r\n2000,1000\r\n',
        "baseline_latency_ms,spec_latency_ms\n1500,750\n,500\n2000,1000\n",
    ],
)
def test_two_columns_are_two_arms(tmp_path, content):
    found = read_files(tmp_path, {"ab.csv": content})
    assert sorted(found) == ["baseline", "spec"]
    assert seconds(found["baseline"]) == pytest.approx([1.5, None, 2.0])
    assert seconds(found["spec"]) == pytest.approx([0.75, 0.5, 1.0])
    assert found["spec"].granularity is Granularity.LATENCIES
    assert found["spec"].latencies["prompt"].n_unique() == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("baseline,spec\n1,2\n", "line 1: the header does not say the unit; found baseline,spec; expected baseline_ms"),
        ("baseline_ms,spec_ms\n1,x\n", "line 2: not a latency; found x"),
        ("baseline_ms,spec_ms\n1,-2\n", "line 2: not a latency; found -2"),
        ("baseline_ms,spec_ms\n1,nan\n", "line 2: not a latency; found nan"),
        ("baseline_ms,spec_ms\n1\n", "line 2: not two columns; found 1"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, content, message):
    with pytest.raises(InputError) as refused:
        read_files(tmp_path, {"ab.csv": content})
    assert message in str(refused.value)


def test_no_other_format_claims_it(tmp_path):
    file = stored(tmp_path, "ab.csv", "baseline_ms,spec_ms\n1500,750\n")
    assert [producer.key for producer in PRODUCERS if producer.looks(file)] == ["latency-csv"]


EXAMPLES = {
    "latency-csv": "baseline_ms,spec_ms\n1500,750\n,500\n2000,1000\n",
}
