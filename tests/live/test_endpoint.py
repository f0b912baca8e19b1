"""Addresses of endpoints."""

import pytest

from specdash.live.endpoint import endpoint
from specdash.schema import InputError


@pytest.mark.parametrize(
    ("address", "base", "metrics"),
    [
        ("http://h:8000", "http://h:8000/v1", "http://h:8000/metrics"),
        ("http://h:8000/", "http://h:8000/v1", "http://h:8000/metrics"),
        ("http://h:8000/v1", "http://h:8000/v1", "http://h:8000/metrics"),
        (" https://h/v1/ ", "https://h/v1", "https://h/metrics"),
        ("https://h/team/v1", "https://h/team/v1", "https://h/team/metrics"),
        ("https://h/api", "https://h/api", "https://h/api/metrics"),
        ("http://[::1]:8000", "http://[::1]:8000/v1", "http://[::1]:8000/metrics"),
    ],
)
def test_addresses(address, base, metrics):
    found = endpoint("spec", address)
    assert (found.base, found.metrics) == (base, metrics)
    assert found.url(True) == f"{base}/chat/completions"
    assert found.url(False) == f"{base}/completions"


def test_credentials_in_an_address_would_be_written_down():
    with pytest.raises(InputError) as refused:
        endpoint("spec", "http://me:secret@h")
    assert "secret" not in str(refused.value) and "--header" in str(refused.value)


def test_counters_elsewhere():
    assert endpoint("spec", "http://h", "http://m:9/x").metrics == "http://m:9/x"


@pytest.mark.parametrize(
    "address", ["", "h:8000", "file:///etc/passwd", "ftp://h", "http://", "http://[::1", "http://h:x"]
)
def test_no_address(address):
    with pytest.raises(InputError, match="the spec endpoint is no http address"):
        endpoint("spec", address)
