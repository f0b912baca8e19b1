"""Servers, the browser, and what is kept of a test that fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from specdash.store import Store
from tests import evaluations
from tests.browser import chromium
from tests.browser.dashboard import PATIENCE, Dashboard
from tests.browser.server import Server

ARTIFACTS = Path(__file__).parent / "artifacts"
ARGUMENTS = """
--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync
--no-first-run
""".split()
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of a file: Playwright keeps an event loop running in the process, which would forbid the files
    tested after it in the same process a loop of their own.
    """
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        launched = playwright.chromium.launch(executable_path=chromium.path(), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def everyday(browser: Browser) -> BrowserContext:
    """The browser profile of most tests: one whose cache holds the frontend already."""
    return browser.new_context(viewport=DESKTOP, color_scheme="light", accept_downloads=True)


@dataclass(frozen=True)
class Library:
    """A library with every evaluation of the tests.

    Attributes:
        home: Its folder.
        ids: Ids by the evaluations' short names; "reference" is the one shown first.
    """

    home: Path
    ids: dict[str, str]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("library")
    store = Store(folder / "home")
    return Library(store.root, evaluations.fill(store, folder))


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Server]]:
    """Start servers; all of them end with the session."""
    logs = tmp_path_factory.mktemp("logs")
    started: list[Server] = []

    def start(home: Path) -> Server:
        server = Server(home, logs / f"{len(started)}.log")
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()
    failures = [failure for server in started if (failure := server.failures())]
    assert not failures, "\n".join(failures)


@pytest.fixture(scope="session")
def running(library: Library, start: Callable[[Path], Server]) -> Server:
    return start(library.home).wait()


@pytest.fixture
def server(running: Server) -> Iterator[Server]:
    """The server that tests share which leave its library alone."""
    yield from watched(running)


@pytest.fixture
def fresh_server(library: Library, start: Callable[[Path], Server]) -> Iterator[Server]:
    """A server nobody has visited yet."""
    server = start(library.home).wait()
    yield from watched(server)
    server.stop()


def watched(server: Server) -> Iterator[Server]:
    """Give a server to one test; what it complains about meanwhile fails it."""
    before = len(server.log())
    yield server
    failures = server.failures(before)
    assert not failures, failures


@pytest.fixture
def open_tab(
    browser: Browser, everyday: BrowserContext, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Dashboard]]:
    """Open tabs; a ``profile`` makes it one of a new browser profile. After the test none may show an exception."""
    tabs: list[Dashboard] = []
    profiles: list[BrowserContext] = []

    def tab(server: Server, **profile: Any) -> Dashboard:
        context = everyday
        if profile:
            context = browser.new_context(**profile)
            profiles.append(context)
        tabs.append(Dashboard(context.new_page(), server.url))
        return tabs[-1]

    yield tab
    try:
        _keep(request.node, tabs)
        for opened in tabs:
            opened.sound()
    finally:
        for opened in tabs:
            opened.page.close()
        for context in profiles:
            context.close()


@pytest.fixture
def tab(server: Server, open_tab: Callable[..., Dashboard]) -> Dashboard:
    """A tab on the shared server."""
    return open_tab(server)


def _keep(node: pytest.Item, tabs: list[Dashboard]) -> None:
    """Keep a picture of every tab when the test failed, or is about to for what they show."""
    failed = getattr(node, "failed", False)
    for number, dashboard in enumerate(tabs):
        if failed or dashboard.errors or dashboard.page.get_by_test_id("stException").count():
            ARTIFACTS.mkdir(exist_ok=True)
            name = re.sub(r"[^\w.-]+", "_", node.nodeid.rpartition("/")[2])[:120]
            dashboard.page.screenshot(path=ARTIFACTS / f"{name}-{number}.png")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if report.failed:
        item.failed = True
        for name in ("server", "fresh_server", "upload_server"):
            if isinstance(used := item.funcargs.get(name), Server):
                report.sections.append((f"log of the {name}", used.log()[-20_000:]))
    return report
