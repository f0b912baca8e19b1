"""An evaluation as one self-contained HTML file: every table and figure, the methods, the configuration.

It draws its figures with the plotly.js inside it and asks no network for anything; its content security policy lets
it run no other script than the two it was written with.
"""

from specdash.report.html.render import render

__all__ = ["render"]
