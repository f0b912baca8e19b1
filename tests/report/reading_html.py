"""A reader of HTML reports: their tables by name, their texts, what they run and refer to."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """A report.

    Attributes:
        tables: Rows of cells by the label of the table's region, in their order.
        texts: Texts in their order, those of scripts and styles left out.
        scripts: Contents of the scripts, by their id.
        links: What attributes refer to.
        meta: Contents of the meta elements by name.
        tags: Names of all elements.
        open: Elements that were not closed.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.links: list[str] = []
        self.meta: dict[str, str] = {}
        self.tags: list[str] = []
        self.open: list[str] = []
        self._label = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.links += [given[name] for name in ("href", "src", "action") if name in given]
        if tag == "meta" and (name := given.get("name") or given.get("http-equiv")):
            self.meta[name] = given["content"]
        if tag not in VOID:
            self.open.append(tag)
        if given.get("role") == "region":
            self._label = given["aria-label"]
        if tag == "table":
            self.tables.append((self._label, []))
        if tag == "tr":
            self.tables[-1][1].append([])
        if tag in ("td", "th"):
            self.tables[-1][1][-1].append("")
        if tag == "script":
            self.scripts.append((given, ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif inside != "style":
            self.texts.append(data)
            if {"td", "th"} & set(self.open):
                self.tables[-1][1][-1][-1] += data

    def table(self, title: str, nth: int = 0) -> dict[str, dict[str, str]]:
        """Return the cells of a table by the name of the row and the head of the column."""
        head, *body = [rows for label, rows in self.tables if label == title][nth]
        return {row[0]: dict(zip(head, row, strict=True)) for row in body}

    def script(self, id: str) -> str:
        """Return the content of a script element."""
        return next(content for attributes, content in self.scripts if attributes.get("id") == id)
