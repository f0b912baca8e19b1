"""What can be taken away from a page: tables and the data of figures as files, figures as pictures.

A picture is made in the browser, by the plotly.js that has drawn the figure: the server needs no browser of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import streamlit as st

from specdash._version import VERSION
from specdash.report import document, html
from specdash.report.exports import Format, Sheet
from specdash.report.sections import Settings, Subject
from specdash.ui import link
from specdash.ui.selection import Selection

WIDTH = 900
"""Width of a picture in px; a PNG has twice as many points."""

_HTML = """
<div><button type="button" data-format="png">PNG</button> <button type="button" data-format="svg">SVG</button></div>
<p role="status"></p>
"""

_CSS = """
div { display: flex; gap: 1rem; }
button {
  box-sizing: border-box; min-height: 2.5rem; padding: .25rem .75rem; font: inherit; font-size: 1rem;
  cursor: pointer; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
button:hover { color: var(--st-primary-color); border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
p { margin: .35rem 0 0; font-size: .875rem; color: var(--st-text-color); }
p:empty { display: none; }
"""

_JS = """
export default function ({ data, parentElement }) {
  const said = parentElement.querySelector("p")
  parentElement.querySelectorAll("button").forEach((button) => {
    button.onclick = async () => {
      const plot = document.querySelector(`.st-key-${data.plot} .js-plotly-plot`)
      said.textContent = ""
      try {
        const size = { width: data.width, height: plot._fullLayout.height, scale: 2 }
        await window.Plotly.downloadImage(plot, { format: button.dataset.format, filename: data.file, ...size })
      } catch {
        said.textContent = "This browser could not draw the picture; the camera above the figure may."
      }
    }
  })
}
"""

_CALCULATOR = "_calculator"

_pictures = st.components.v2.component("specdash_pictures", html=_HTML, css=_CSS, js=_JS)


def image_options(file: str) -> dict[str, object]:
    """Return how the camera in a figure's mode bar saves it."""
    return {"format": "png", "filename": file, "width": WIDTH, "scale": 2}


def menu(
    sheet: Callable[[], Sheet], file: str, formats: Sequence[Format], key: str, *, plot: str | None = None
) -> None:
    """Show a button that offers a sheet in several formats.

    Args:
        sheet: Gives what is offered, when it is asked for.
        file: Name of the files without suffix.
        formats: The formats.
        key: Key of the widgets, unique on the page.
        plot: Key of the figure that is offered as a picture beside its data.
    """
    with st.popover("Download", icon=":material/download:", key=f"{key}_download", type="tertiary"):
        if plot is not None:
            st.caption("The figure as it looks here")
            _pictures(key=f"{key}_picture", data={"plot": plot, "file": file, "width": WIDTH})
        for said, exact in (("Every number at full precision", True), ("As printed here", False)):
            offered = [format for format in formats if format.exact is exact]
            if offered:
                st.caption(said)
            with st.container(horizontal=True):
                for format in offered:
                    name, write = f"{file}.{format.suffix}", format.write
                    _button(
                        format.label, lambda write=write: write(sheet()), name, format.mime, f"{key}_{format.suffix}"
                    )


def _button(label: str, data: Callable[[], bytes], file: str, mime: str, key: str) -> None:
    st.download_button(label, data, file, mime, key=key, on_click="ignore")


def calculated(settings: Settings | None) -> None:
    """Note what the calculator is set to, for a report of this session; None for what it is at first."""
    st.session_state[_CALCULATOR] = settings


def reports(selected: Selection) -> None:
    """Show a button that offers everything known of what is looked at, and of its evaluation."""
    evaluation, subject, link_here = selected.evaluation, selected.subject, link.here()
    runs = evaluation.runs
    calculator: Settings | None = st.session_state.get(_CALCULATOR)

    def whole() -> list[Subject]:
        # No session is at hand for the library's caches.
        return [Subject.of(run, subject.family_of, evaluation=evaluation) for run in runs]

    def page(subjects: list[Subject]) -> bytes:
        return html.render(evaluation, subjects, link=link_here, calculator=calculator).encode()

    def numbers() -> bytes:
        return json.dumps(document(evaluation, subject.family_of), indent=1, allow_nan=False).encode()

    everything = f"{evaluation.id}_specdash-{VERSION}"
    with st.popover("Download the report", icon=":material/download:", key="report_download"):
        priced = "" if calculator is None else "; the calculator in it is set as on the page Throughput"
        st.caption(f"One file with every table and figure that opens in any browser, without a network{priced}")
        scope = "This run" if selected.datasets is None else f"{len(selected.datasets)} datasets of this run"
        _button(
            f"{scope} as HTML", lambda: page([subject]), f"{selected.origin.file('')}.html", "text/html", "report_run"
        )
        if len(runs) > 1:
            _button(
                f"All {len(runs)} runs as HTML", lambda: page(whole()), f"{everything}.html", "text/html", "report_all"
            )
        st.caption("Every number at full precision")
        _button("All runs as JSON", numbers, f"{everything}.json", "application/json", "report_json")
