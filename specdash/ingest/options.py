"""What the user says of an evaluation while reading it, and the id that follows from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Options:
    """What the user says of an evaluation while reading it; part of its id.

    Attributes:
        config: Settings of its runs, winning over what stands in the files.
    """

    config: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the options as stored."""
        return {"config": dict(self.config)} if self.config else {}


def evaluation_id(sha256: str, options: Options) -> str:
    """Return the id of an input read with some options: 12 hex digits, the same wherever it is read."""
    said = json.dumps(options.as_dict(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{sha256}\n{said}".encode()).hexdigest()[:12]
