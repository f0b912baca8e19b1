"""Fetching from servers that behave in every way a server can, over real sockets."""

import socket
import time

import pytest

from specdash.live.fetch import Limits, fetch
from specdash.live.policy import COMMAND_LINE, Policy
from specdash.schema import InputError
from tests.live.serving import answer, saying, serving

COUNTERS = "# HELP x\nvllm:spec_decode_num_drafts_total 3.0\n"
ANYTHING = Policy()


def forever(head, part, pause=0.0):
    def respond(connection, _, closing):
        connection.sendall(head)
        while not closing.is_set():
            connection.sendall(part)
            time.sleep(pause)

    return respond


def to(*numeric):
    """A resolver with prepared answers, one a question."""
    answers = list(numeric)

    async def resolve(host, port):
        return answers.pop(0)

    return resolve


def refused(url, expected, policy=ANYTHING, limits=Limits(seconds=3, size=2**20), **options):  # noqa: B008
    begun = time.monotonic()
    with pytest.raises(InputError, match=expected):
        fetch(url, policy, limits, **options)
    return time.monotonic() - begun


def test_counters_are_fetched_as_they_stand():
    with serving(saying(answer(COUNTERS))) as (port, requests):
        assert fetch(f"http://127.0.0.1:{port}/metrics?a=b", ANYTHING) == COUNTERS
    first, *headers = requests[0].lower().splitlines()
    assert first == "get /metrics?a=b http/1.1"
    assert f"host: 127.0.0.1:{port}" in headers
    assert "accept-encoding: identity" in headers


def test_the_name_is_told_to_the_server_that_its_address_leads_to():
    with serving(saying(answer(COUNTERS))) as (port, requests):
        assert fetch(f"http://gpu-1:{port}/metrics", ANYTHING, resolve=to(["127.0.0.1"])) == COUNTERS
    assert f"host: gpu-1:{port}" in requests[0].lower()


def test_a_name_is_resolved_once_so_that_it_cannot_change():
    with serving(saying(answer("", "307 Temporary Redirect", Location="/metrics/"))) as (port, requests):
        answers = to(["127.0.0.1"], ["169.254.169.254"])
        refused(f"http://changing:{port}/metrics", "redirects in circles", resolve=answers)
        assert len(requests) == 4


@pytest.mark.parametrize("numeric", [["169.254.169.254"], ["127.0.0.1", "169.254.169.254"], ["fe80::1"]])
def test_a_name_that_resolves_to_a_link_local_address_is_not_asked(numeric):
    with serving(saying(answer(COUNTERS))) as (port, requests):
        found = r"is a link-local address, which is never asked; found sly is (169\.254\.169\.254|fe80::1)"
        refused(f"http://sly:{port}/metrics", found, resolve=to(numeric))
        assert not requests


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest/meta-data", "http://[fe80::1]/x", "http://2852039166/"])
def test_link_local_addresses_are_not_asked(url):
    refused(url, "is a link-local address")


def test_a_listed_name_that_has_moved_to_this_machine_is_not_asked():
    with serving(saying(answer(COUNTERS))) as (port, requests):
        listed = Policy(frozenset({("gpu-1", None)}))
        refused(f"http://gpu-1:{port}/", "this machine itself", listed, resolve=to(["127.0.0.1"]))
        refused(f"http://gpu-2:{port}/", "is not among the hosts", listed, resolve=to(["10.0.0.1"]))
        assert not requests


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_other_schemes_are_refused_on_the_command_line_too(url):
    refused(url, "is no http address", COMMAND_LINE)


@pytest.mark.parametrize("location", ["http://169.254.169.254/", "//169.254.169.254/", "https://127.0.0.1/"])
def test_a_redirect_elsewhere_is_not_followed(location):
    with serving(saying(answer("", "302 Found", Location=location))) as (port, requests):
        refused(f"http://127.0.0.1:{port}/", "redirects elsewhere, which is not followed; found http")
        assert len(requests) == 1


def test_nor_is_one_to_another_port_or_a_file():
    with serving(saying(answer(COUNTERS))) as (other, requests):
        for location, problem in ((f"http://127.0.0.1:{other}/", "redirects elsewhere"), ("file:///x", "no http")):
            with serving(saying(answer("", "301 Moved Permanently", Location=location))) as (port, _):
                refused(f"http://127.0.0.1:{port}/", problem)
        assert not requests


def test_a_redirect_to_the_same_server_is_followed():
    def respond(connection, request, _):
        moved = answer("", "307 Temporary Redirect", Location="/metrics/")
        connection.sendall(answer(COUNTERS) if request.startswith("GET /metrics/ ") else moved)

    with serving(respond) as (port, _):
        assert fetch(f"http://127.0.0.1:{port}/metrics", ANYTHING) == COUNTERS


def test_a_large_answer_is_refused_by_what_it_says():
    with serving(saying(answer("x", Content_Length=10 * 10**9))) as (port, _):
        refused(f"http://127.0.0.1:{port}/", r"is too large; found 10,000,000,000 bytes; expected at most 1 MB")


@pytest.mark.parametrize("chunked", [False, True])
def test_an_endless_answer_is_cut(chunked):
    part = b"8000\r\n" + b"x" * 0x8000 + b"\r\n" if chunked else b"x" * 2**16
    head = answer("", **({"Transfer_Encoding": "chunked"} if chunked else {}))
    with serving(forever(head, part)) as (port, _):
        refused(f"http://127.0.0.1:{port}/", "is too large; found more", limits=Limits(seconds=20, size=2**20))


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n", answer("")], ids=["nothing", "headers", "body"])
def test_a_server_that_never_ends_is_left(head):
    drip = b"X-A: b\r\n" if head.startswith(b"HTTP/1.1 200 OK\r\n") and not head.endswith(b"\r\n\r\n") else b"x"
    with serving(forever(head, drip if head else b"", pause=0.2)) as (port, _):
        took = refused(
            f"http://127.0.0.1:{port}/", "does not answer in time; expected an answer in 1 s", limits=Limits(seconds=1)
        )
    assert 0.9 < took < 3


def test_a_name_server_that_never_answers_is_left_too():
    async def resolve(host, port):
        import asyncio

        await asyncio.sleep(60)

    refused("http://slow/", "does not answer in time", limits=Limits(seconds=0.5), resolve=resolve)


def test_a_compressed_answer_is_not_unpacked():
    with serving(saying(answer(b"\x1f\x8b", Content_Encoding="gzip"))) as (port, _):
        refused(f"http://127.0.0.1:{port}/", "is compressed though not asked to; found gzip")


@pytest.mark.parametrize("raw", [b"", b"SSH-2.0-OpenSSH_9\r\n", b"\x00\xff" * 50, b"HTTP/1.1 abc\r\n\r\n"])
def test_what_is_no_http_server_is_told(raw):
    with serving(saying(raw)) as (port, _):
        refused(f"http://127.0.0.1:{port}/", "cannot be reached; found ")


def test_other_failures_say_what_they_are():
    with serving(saying(answer("no", "503 Service Unavailable"))) as (port, _):
        refused(f"http://127.0.0.1:{port}/", "gives no counters; found HTTP 503")
    with serving(saying(answer(b"\xff\xfe"))) as (port, _):
        refused(f"http://127.0.0.1:{port}/", "is no text")
    refused("http://no-such-host.invalid/", "has a host that is not known; found no-such-host.invalid")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    refused(f"http://127.0.0.1:{port}/", "cannot be reached")


def test_no_proxy_of_the_environment_is_asked(monkeypatch):
    with serving(saying(answer("proxied"))) as (proxy, asked), serving(saying(answer(COUNTERS))) as (port, _):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        assert fetch(f"http://127.0.0.1:{port}/", ANYTHING) == COUNTERS
        assert not asked
