"""The link to what is looked at, copied with one button.

The browser's address carries a control only while it differs from its default. The link names every control, so that
it goes on showing the same when a default changes. The address is read in the browser, when the button is pressed: the
server knows it without its query only, and late.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import streamlit as st

from specdash.ui import text

_DEFAULTS, _DOUBTS, _REPEATED = "_defaults", "_doubts", "_repeated"
_SEVERAL = ("ds", "lines")
"""Controls that have several values at once."""
_FIRST, _MOST = 40, 4  # characters of a value that are quoted, and values

_HTML = """
<button type="button">Copy link</button>
<p role="status"></p>
<input readonly hidden aria-label="Link to this page" />
"""

_CSS = """
button, input {
  box-sizing: border-box; width: 100%; min-height: 2.5rem; padding: .25rem .75rem; font: inherit; font-size: 1rem;
  color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
button { cursor: pointer; }
button:hover { color: var(--st-primary-color); border-color: var(--st-primary-color); }
button:focus-visible, input:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
p { margin: .35rem 0 0; font-size: .875rem; line-height: 1.35; color: var(--st-text-color); }
p:empty { display: none; }
input { margin-top: .35rem; }
input[hidden] { display: none; }
"""

_JS = """
export default function ({ data, parentElement }) {
  // What was copied or offered before is not the link any more once something has changed.
  const [button, said, field] = ["button", "p", "input"].map((name) => parentElement.querySelector(name))
  field.hidden = true
  said.textContent = ""

  function link() {
    const url = new URL(window.location.href)
    for (const [name, values] of data.defaults) {
      if (!url.searchParams.has(name)) values.forEach((value) => url.searchParams.append(name, value))
    }
    return url
  }

  function offer(url) {
    field.value = url.href
    field.hidden = false
    field.focus()
    field.select()
    said.textContent = "The browser lets no page copy over a plain connection. Copy the link from here:"
  }

  button.onclick = async () => {
    const url = link()
    field.hidden = true
    said.textContent = ""
    try {
      await navigator.clipboard.writeText(url.href)  // There is no clipboard outside a secure context.
    } catch {
      return offer(url)
    }
    const here = /^(localhost|127\\.|\\[::1\\])/.test(url.hostname)
    said.textContent = here ? "Copied. It opens on this computer only." : "Copied."
  }
}
"""

_component = st.components.v2.component("specdash_copy_link", html=_HTML, css=_CSS, js=_JS)


def begin() -> None:
    """Forget the controls of the page before; called at the top of a run."""
    st.session_state[_DEFAULTS] = {}
    st.session_state[_DOUBTS] = []
    # Looked at before the controls are shown: what a control cannot show, Streamlit takes out of the address.
    said = {name: st.query_params.get_all(name) for name in st.query_params if name not in _SEVERAL}
    st.session_state[_REPEATED] = {name: values for name, values in said.items() if len(values) > 1}


def doubt(what: str) -> None:
    """Note what has to be told of the link that led here, above the page."""
    st.session_state.setdefault(_DOUBTS, []).append(what)


def _doubts() -> list[str]:
    """Return what has to be told of this link: of controls that it sets twice, or spells in capitals, too."""
    state = st.session_state
    known, found = {"eval", *_SEVERAL, *state[_DEFAULTS]}, list(state[_DOUBTS])
    for name in st.query_params:
        if name not in known and name.lower() in known:
            found.append(f"It sets {text.short(name, _FIRST)}, which is spelled {name.lower()}, so it sets nothing.")
    for name in known & state[_REPEATED].keys():
        values = ", ".join(text.short(value, _FIRST) for value in state[_REPEATED][name][:_MOST])
        found.append(f"It sets {name} more than once, to {values}: see what is shown here.")
    return found


def default(key: str, *values: object) -> None:
    """Tell what a control that is bound to the address shows while the address does not name it.

    Args:
        key: Name in the address.
        values: As the address would have them.
    """
    st.session_state.setdefault(_DEFAULTS, {})[key] = [str(value) for value in values]


def here() -> str | None:
    """Return the link to this page as far as the server knows it; None when it does not know its own address."""
    url, base = st.context.url, (st.get_option("server.baseUrlPath") or "").strip("/")
    if url and base and url.endswith(f"/{base}"):
        url += "/"  # The overview below a path: a proxy that serves "/path/" need not know "/path".
    seen = {name: st.query_params.get_all(name) for name in st.query_params}
    query = urlencode(seen | {k: v for k, v in st.session_state[_DEFAULTS].items() if k not in seen}, doseq=True)
    return url and f"{url}?{query}"


@contextmanager
def button() -> Iterator[None]:
    """Stand in the sidebar, and know the controls of the page that is shown in the ``with`` block.

    Above the page stands what has to be told of the link that led to it.
    """
    place, above = st.sidebar.container(key="copy-link"), st.container()
    yield
    with above:
        for what in _doubts():
            text.notice(what, "error", "This link.")
    defaults = list(st.session_state[_DEFAULTS].items())
    with place:
        _component(key="copy_link", data={"defaults": defaults, "seen": [st.context.url, str(st.query_params)]})
