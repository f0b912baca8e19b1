"""The dashboard as somebody sees it in a browser tab."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, TimeoutError, expect

PATIENCE = 60_000  # ms; the machine may be busy
_FOLDS = 768  # px; in a narrower window the menu folds away
PAGES = {
    "": "Overview",
    "prompts": "Prompts",
    "acceptance_length": "Acceptance length",
    "draft_positions": "Draft positions",
    "step_outcomes": "Step outcomes",
    "shorter_blocks": "Shorter blocks",
    "prompt_difficulty": "Prompt difficulty",
    "throughput": "Throughput",
    "speed_up": "Speed-up",
    "methods": "Methods",
}
"""Title in the menu by address, of the pages about an evaluation and of Methods."""
OTHERS = {"latency_ab": "Latency A/B", "counters": "Counters"}

_OF_STREAMLIT = re.compile(r"/[a-z_]+/_stcore/(health|host-config)$")
"""What Streamlit's own frontend asks for in vain on a deep link, before it looks one level higher."""


class Dashboard:
    """A tab.

    Attributes:
        page: Playwright's page.
        base: Address of the server.
        errors: What the browser's console has complained about.
    """

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.set_default_navigation_timeout(PATIENCE)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))

    def _console(self, message: ConsoleMessage) -> None:
        url = message.location.get("url", "")
        if message.type == "error" and not ("404" in message.text and _OF_STREAMLIT.search(urlsplit(url).path)):
            self.errors.append(f"{message.text} ({url})")

    def open(self, path: str = "", **query: str | list[str]) -> Dashboard:
        """Follow a link to a page."""
        return self.goto(f"{self.base}/{path}" + (f"?{urlencode(query, doseq=True)}" if query else ""))

    def goto(self, url: str) -> Dashboard:
        """Follow a link."""
        self.page.goto(url, wait_until="domcontentloaded")
        return self.settled()

    def reload(self) -> Dashboard:
        """Load the tab anew."""
        self.page.reload(wait_until="domcontentloaded")
        return self.settled()

    def settled(self) -> Dashboard:
        """Wait until a page is shown and its script has ended."""
        expect(self.page.locator("h1").first).to_be_visible(timeout=PATIENCE)
        ended = '[data-testid="stApp"][data-test-script-state="notRunning"]'
        self.page.wait_for_selector(ended, timeout=PATIENCE)
        return self

    def switch(self, path: str) -> Dashboard:
        """Go to another page by the menu."""
        title = (PAGES | OTHERS)[path]
        narrow = self.page.viewport_size["width"] < _FOLDS
        if narrow:
            self.page.get_by_test_id("stExpandSidebarButton").click()
        sidebar = self.page.get_by_test_id("stSidebar")
        expect(sidebar).to_have_attribute("data-collapsed", "false", timeout=PATIENCE)
        self.page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile(rf"{title}\s*$")).click()
        self.page.wait_for_url(lambda url: urlsplit(url).path == f"/{path}", timeout=PATIENCE)
        if narrow:
            expect(sidebar).to_have_attribute("data-collapsed", "true", timeout=PATIENCE)
        if path:
            expect(self.title).to_have_text(title, timeout=PATIENCE)
        return self.settled()

    def back(self, title: str) -> None:
        """Go the way back to a page; Streamlit may have left two entries of the page that is left."""
        for _ in range(2):
            self.page.go_back()
            with suppress(AssertionError):
                expect(self.title).to_have_text(title, timeout=8000)
                return
        expect(self.title).to_have_text(title)

    @property
    def title(self) -> Locator:
        """The head of the page."""
        return self.page.get_by_test_id("stMain").locator("h1")

    @property
    def main(self) -> Locator:
        """The page beside the sidebar."""
        return self.page.get_by_test_id("stMain")

    def metric(self, label: str) -> Locator:
        """The value of one of the large figures."""
        found = self.page.get_by_test_id("stMetric").filter(has_text=label)
        return found.get_by_test_id("stMetricValue")

    def table(self, title: str, rows: int | None = None) -> Locator:
        """A table by its alternative text."""
        named = f'="{title}: {rows} rows"' if rows else f'^="{title}: "'
        return self.page.locator(f"[role=region][aria-label{named}]")

    def cells(self, title: str) -> list[list[str]]:
        """The cells of a table's visible part as they are drawn, its head first."""
        canvas = self.table(title).locator("canvas").first
        canvas.locator("td").first.wait_for(state="attached")
        return canvas.evaluate("c => [...c.querySelectorAll('tr')].map(r => [...r.children].map(x => x.textContent))")

    def notice(self, kind: str) -> Locator:
        """The notices of a kind: error, warning, info."""
        return self.page.locator(f".sd-{kind}")

    def verdict(self) -> Locator:
        """What the checks say of the run."""
        return self.page.locator(".sd-verdict")

    def query(self) -> dict[str, list[str]]:
        """What the address carries."""
        return parse_qs(urlsplit(self.page.url).query)

    def carries(self, **query: str | list[str]) -> None:
        """Wait until the address carries exactly this."""
        wanted = {name: [value] if isinstance(value, str) else value for name, value in query.items()}
        eventually(
            lambda: self.query() == wanted, lambda: f"the address is {self.page.url}, not of {wanted}", self.page
        )

    def select(self, key: str, option: str) -> None:
        """Choose an option in one of the sidebar's lists."""
        control = self.page.locator(f".st-key-{key}")
        box, found = control.get_by_role("combobox"), self.page.get_by_role("option", name=option, exact=True)
        self._unfold(box)
        if not found.count():  # A long list draws only what is in view.
            box.fill(option)
        found.click()
        if self.page.get_by_role("listbox").is_visible():  # The list of datasets stays open for more.
            self.page.keyboard.press("Escape")
        expect(self.page.get_by_role("listbox")).to_have_count(0)

    def _unfold(self, box: Locator) -> None:
        """Open a list: a run of the page that ends meanwhile closes it again."""
        options = self.page.get_by_role("option")
        for attempt in range(10):
            box.press("ArrowDown") if attempt % 2 else box.click()
            with suppress(TimeoutError):
                options.first.wait_for(timeout=3000)
                return
        expect(options.first).to_be_visible()

    def chosen_run(self) -> Locator:
        """The sidebar's list of runs."""
        return self.page.locator(".st-key-run")

    def chosen_datasets(self) -> Locator:
        """The sidebar's list of datasets."""
        return self.page.locator(".st-key-ds")

    def upload(self, path: Path | list[Path]) -> None:
        """Drop a file, or several at once, into the drop zone, after opening the part of the page that holds it."""
        drop = self.page.locator('input[type="file"]')
        if not drop.count():
            self.library()
        drop.set_input_files(path)

    def library(self) -> Locator:
        """Open the part of the overview that lists the library."""
        expander = self.page.get_by_test_id("stExpander").filter(has_text="Library and upload")
        if expander.locator("details[open]").count() == 0:
            expander.locator("summary").click()
        expect(expander.get_by_label("Search the library")).to_be_visible(timeout=PATIENCE)
        return expander

    def job(self, name: str) -> Locator:
        """The card of an ingest job."""
        return self.page.locator('[class*="st-key-job-"]').filter(has_text=name)

    def sound(self) -> None:
        """Fail if the page shows an exception or the browser has complained."""
        assert self.page.get_by_test_id("stException").count() == 0, self.page.get_by_test_id(
            "stException"
        ).all_inner_texts()
        assert not self.errors, self.errors


def eventually(holds: Callable[[], bool], problem: Callable[[], str], page: Page, timeout: float = 60) -> None:
    """Wait until something holds, letting the browser work meanwhile."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, problem()
        page.wait_for_timeout(100)
