"""The pages of the dashboard, and the guard that keeps ``pages/`` behind ``app.py``.

Streamlit runs the scripts of a folder ``pages/`` beside the entry script directly until some session has called
``st.navigation``: on a fresh server a deep link to a page would run it without ``app.py``, without its sidebar and
selection. Every page therefore begins with ``router.ensure()``.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

_ENTRY = "_entry"
_PAGE, _OPENED = "_page", "_opened"

ICON = Path(__file__).with_name("icon.png")
"""A file of our own: Streamlit fetches a named icon from elsewhere, and a dashboard may have no way out."""


def pages() -> dict[str, list[StreamlitPage]]:
    """Return the pages by group, in the order of the menu."""
    return {
        "Evaluation": [
            st.Page("pages/overview.py", title="Overview", icon=":material/dashboard:", url_path="home", default=True),
            # The default page is served at the root alone: without this a link to /overview would lead nowhere.
            st.Page("pages/overview.py", title="Overview", url_path="overview", visibility="hidden"),
            _page("prompts", "Prompts", "quiz"),
            _page("acceptance_length", "Acceptance length", "straighten"),
            _page("draft_positions", "Draft positions", "format_list_numbered"),
            _page("step_outcomes", "Step outcomes", "bar_chart"),
            _page("shorter_blocks", "Shorter blocks", "content_cut"),
            _page("prompt_difficulty", "Prompt difficulty", "scatter_plot"),
        ],
        "Decide": [
            _page("throughput", "Throughput", "speed"),
            _page("speed_up", "Speed-up", "rocket_launch"),
        ],
        "Compare": [_page("latency_ab", "Latency A/B", "timer")],
        "Live": [_page("counters", "Counters", "monitoring")],
        "About": [_page("methods", "Methods", "functions")],
    }


def _page(name: str, title: str, icon: str) -> StreamlitPage:
    return st.Page(f"pages/{name}.py", title=title, icon=f":material/{icon}:", url_path=name)


def _configure() -> None:
    """Set the tab's title and icon, before ``st.navigation`` would take the icon of the page."""
    st.set_page_config(page_title="specdash", page_icon=str(ICON), layout="wide")


def enter() -> None:
    """Begin a run that came through ``app.py``; called at its top."""
    st.session_state[_ENTRY] = True
    _configure()


def ensure() -> None:
    """Send a run that did not come through ``app.py`` there; called first on every page."""
    if not st.session_state.get(_ENTRY):
        _configure()
        st.navigation(pages())
        st.rerun()
    st.session_state[_ENTRY] = False


def note(page: StreamlitPage) -> None:
    """Note which page is about to be shown; called by ``app.py``."""
    st.session_state[_OPENED] = page.url_path != st.session_state.get(_PAGE)
    st.session_state[_PAGE] = page.url_path


def current() -> str:
    """Return the address of the page that is shown."""
    return st.session_state[_PAGE]


def opened() -> bool:
    """Tell whether another page was shown before."""
    return st.session_state[_OPENED]
