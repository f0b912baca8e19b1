"""InferenceX's golden acceptance lengths: YAML, by model and thinking mode an acceptance length for each block length.

Every block length was a run of its own, so it becomes one: printed ratios, two decimals, without counts. What was run
stands in comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specdash.formats import aggregate
from specdash.formats.base import File, has_suffix, read_text
from specdash.formats.producer import Context, Producer
from specdash.schema import MAX_DRAFTED, Bonus, End, InputError, NothingToRead, Run, Semantics, Span, Undrafted

if TYPE_CHECKING:  # It takes a while to import, and few evaluations hold YAML.
    import yaml

_LARGEST = 1 << 20  # bytes; a curve takes a hundred
_CELL = re.compile(rb"^\s+\d+\s*:\s*(\d+(\.\d*)?|~|null)\s*(#.*)?$", re.MULTILINE)
_SAID = re.compile(r"\b(dataset|temperature|output_len|method|draft_sample_method)\s*[:=]\s*([^|,()\s]+)")
_COMMENTS = 2000  # characters of them that are kept

_SEMANTICS = Semantics(
    producer="InferenceX, golden acceptance lengths",
    bonus=Bonus.IN,
    span=Span.RUN,
    end=End.UNKNOWN,
    undrafted=Undrafted.UNKNOWN,
    note="Two decimals, without counts. Every block length is a run of its own.",
)


@dataclass
class Curve:
    """Measured acceptance lengths of one model in one mode.

    Attributes:
        model: The model.
        mode: The thinking mode, "" where there is none.
        taus: Acceptance length by block length K, None where none is given.
        said: What comments say of the run: dataset, temperature, …
        comments: The comments.
    """

    model: str
    mode: str
    taus: dict[int, float | None] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    comments: str = ""


def curves(file: File) -> list[Curve]:
    """Read the curves of a file.

    Raises:
        InputError: It is not YAML, or not of this shape; the message names the line.
    """
    text = read_text(file)
    comments = [line.strip().lstrip("# ") for line in text.splitlines() if line.lstrip().startswith("#")]
    said = {name: value for line in comments for name, value in _SAID.findall(line)}
    about = " ".join(filter(None, comments))[:_COMMENTS]
    found = []
    for model, below in _pairs(_root(text, file.path), file.path):
        if below.id != "mapping":
            raise _wrong(below, file.path, "not the acceptance lengths of a model", "block lengths or thinking modes")
        modes = list(_pairs(below, file.path))
        nested = any(node.id == "mapping" for _, node in modes)
        for mode, node in modes if nested else [("", below)]:
            found.append(Curve(model, mode, _taus(node, file.path), said, about))
    return found


def _root(text: str, path: str) -> yaml.Node:
    """Return the document as nodes, which keep their lines and the spelling of numbers."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(f"not valid YAML ({error.problem or error.context})", file=path, line=line) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError("not readable YAML", file=path, found=str(error)) from None
    if root is None or root.id != "mapping":
        raise InputError("no models", file=path, expected="a model and its acceptance lengths by block length")
    return root


def _pairs(node: yaml.Node, path: str) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the members of a mapping; one that stands there twice would overrule the first in silence."""
    seen = set()
    for key, value in node.value:
        if key.id != "scalar" or key.value in seen:
            raise _wrong(key, path, "a name that is none or stands here twice", "each name once")
        seen.add(key.value)
        yield key.value, value


def _taus(node: yaml.Node, path: str) -> dict[int, float | None]:
    if node.id != "mapping":
        raise _wrong(node, path, "not acceptance lengths by block length", "1: 1.79")
    found: dict[int, float | None] = {}
    for key, value in _pairs(node, path):
        k = int(key) if re.fullmatch(r"[0-9]{1,3}", key) else 0
        if not 1 <= k <= MAX_DRAFTED:
            raise _wrong(value, path, "not a block length", f"a whole number from 1 to {MAX_DRAFTED}", key)
        if k in found:
            raise _wrong(value, path, "a block length stands here twice", "each once", key)
        found[k] = _tau(value, k, path)
    return found


def _tau(node: yaml.Node, k: int, path: str) -> float | None:
    said = node.value if node.id == "scalar" else ""
    if node.id == "scalar" and said.lower() in ("", "~", "null"):
        return None
    value = float(said) if re.fullmatch(r"[0-9]{1,4}(\.[0-9]*)?", said) else 0.0
    if not 1 <= value <= k + 1:
        raise _wrong(
            node, path, "not an acceptance length", f"1 to {k + 1} with {k} drafted tokens", said or "no number"
        )
    return value


def _wrong(node: yaml.Node, path: str, problem: str, expected: str, found: str | None = None) -> InputError:
    shown = found if found is not None else str(node.value)
    return InputError(problem, file=path, line=node.start_mark.line + 1, found=shown, expected=expected)


def _looks(file: File) -> bool:
    """Tell whether a file is YAML in which some mapping holds nothing but numbers by whole numbers."""
    head = file.head(_LARGEST + 1)
    if not has_suffix(file, ".yaml", ".yml") or len(head) > _LARGEST or not _CELL.search(head):
        return False
    import yaml

    try:
        root = yaml.compose(head.decode("utf-8", "replace"), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return False
    return root is not None and root.id == "mapping" and any(map(_holds_a_curve, (value for _, value in root.value)))


def _holds_a_curve(node: yaml.Node, depth: int = 0) -> bool:
    if node.id != "mapping" or not node.value or depth > 1:
        return False
    keys = [key.value for key, _ in node.value]
    if all(isinstance(key, str) and key.isdecimal() for key in keys):
        return all(value.id == "scalar" for _, value in node.value)
    return any(_holds_a_curve(value, depth + 1) for _, value in node.value)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    runs = []
    for file in files:
        for curve in curves(file):
            for k, tau in sorted(curve.taus.items()):
                if tau is not None:
                    runs.append(_run(curve, k, tau, context))
    if not runs:
        raise NothingToRead("holds no acceptance length", file=files[0].path)
    return runs


def _run(curve: Curve, k: int, tau: float, context: Context) -> Run:
    name = " ".join(filter(None, (curve.model, curve.mode, f"K={k}")))
    config: dict[str, Any] = {"model": curve.model, "mode": curve.mode or None, "k": k} | curve.said
    config = {key: value for key, value in config.items() if value is not None} | {"comments": curve.comments}
    row = {"dataset": curve.said.get("dataset") or context.dataset, "tau": tau}
    return aggregate.rates_run(name, [row], k, config=config)


PRODUCERS = (
    Producer(
        key="inferencex-golden",
        tool="InferenceX",
        what="golden acceptance lengths by block length (YAML)",
        looks=_looks,
        read=_read,
        semantics=_SEMANTICS,
    ),
)
