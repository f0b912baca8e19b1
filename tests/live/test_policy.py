"""What a dashboard may ask, by address; nothing is asked here."""

import pytest

from specdash.live.policy import COMMAND_LINE, Policy, address, of_dashboard
from specdash.schema import InputError

LOCAL = of_dashboard(local=True, env={})
SHARED = of_dashboard(local=False, env={"SPECDASH_METRICS_HOSTS": "gpu-1, gpu-2:8000 10.0.0.7"})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8000/metrics", ("http", "localhost", 8000, "/metrics", "localhost:8000")),
        (" HTTPS://GPU-1/metrics?x=1 ", ("https", "gpu-1", 443, "/metrics?x=1", "gpu-1")),
        ("http://[::1]:9/", ("http", "::1", 9, "/", "[::1]:9")),
        ("http://h", ("http", "h", 80, "/", "h")),
    ],
)
def test_an_address_is_taken_apart(url, expected):
    found = address(url)
    assert (found.scheme, found.host, found.port, found.target, found.authority) == expected


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://h/x", "gopher://h", "localhost:8000", "/metrics", "", "http://", "http://h:0/",
     "http://h:99999/", "http://[::1", "data:text/plain,x", "javascript:1"],
)  # fmt: skip
def test_other_addresses_are_refused(url):
    with pytest.raises(InputError, match="is no http address"):
        address(url)


def test_a_password_is_refused_and_not_repeated():
    with pytest.raises(InputError, match="holds a name or password") as refused:
        address("http://me:secret@h/metrics")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("numeric", "kind"),
    [
        ("169.254.169.254", "link-local"),
        ("169.254.0.1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("::ffff:169.254.169.254", "link-local"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("2002:a9fe:a9fe::1", "link-local"),
        ("100.100.100.200", "credentials"),
        ("fd00:ec2::254", "credentials"),
        ("224.0.0.1", "many machines"),
        ("255.255.255.255", "many machines"),
    ],
)
def test_no_dashboard_asks_where_no_metrics_are(numeric, kind):
    for policy in (LOCAL, Policy(frozenset({("h", None)}))):
        with pytest.raises(InputError, match=kind):
            policy.check_resolved(address("http://h/metrics"), numeric)
    COMMAND_LINE.check_resolved(address("http://h/metrics"), numeric)


@pytest.mark.parametrize("numeric", ["127.0.0.1", "::1", "10.1.2.3", "192.168.0.4", "fd12::1", "8.8.8.8", "0.0.0.0"])
def test_one_that_only_its_machine_reaches_asks_all_others(numeric):
    asked = address("http://h/metrics")
    LOCAL.check(asked)
    LOCAL.check_resolved(asked, numeric)


@pytest.mark.parametrize("url", ["http://gpu-1:1234/m", "https://gpu-1/m", "http://gpu-2:8000/m", "http://10.0.0.7/m"])
def test_one_that_others_reach_asks_what_is_listed(url):
    SHARED.check(address(url))
    SHARED.check_resolved(address(url), "10.0.0.7")


@pytest.mark.parametrize("url", ["http://localhost/m", "http://gpu-2/m", "http://gpu-2:8001/m", "http://10.0.0.8/m"])
def test_and_nothing_else(url):
    with pytest.raises(InputError, match=r"SPECDASH_METRICS_HOSTS: 10\.0\.0\.7, gpu-1, gpu-2:8000"):
        SHARED.check(address(url))


def test_nothing_is_listed_unless_somebody_does():
    with pytest.raises(InputError, match="SPECDASH_METRICS_HOSTS: none"):
        of_dashboard(local=False, env={}).check(address("http://localhost/metrics"))


@pytest.mark.parametrize("numeric", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0"])
def test_a_listed_name_does_not_lead_back_here(numeric):
    with pytest.raises(InputError, match="this machine itself under another name"):
        SHARED.check_resolved(address("http://gpu-1/metrics"), numeric)
    here = of_dashboard(local=False, env={"SPECDASH_METRICS_HOSTS": "localhost"})
    here.check_resolved(address("http://localhost/metrics"), numeric)


@pytest.mark.parametrize("text", ["http://gpu-1", "gpu-1/metrics", "me@gpu-1", "gpu-1:port", ":80"])
def test_a_wrong_list_is_refused(text):
    with pytest.raises(InputError, match="SPECDASH_METRICS_HOSTS: is no list of hosts"):
        of_dashboard(local=False, env={"SPECDASH_METRICS_HOSTS": text})
