"""From files to stored evaluations: safe reading, runs, the mapping of requests to prompts."""

from specdash.ingest.add import add
from specdash.ingest.checking import checked, unchecked
from specdash.ingest.options import Options, evaluation_id
from specdash.ingest.read import read
from specdash.ingest.source import Limits, Progress, open_source
from specdash.ingest.steps import of_response

__all__ = [
    "Limits",
    "Options",
    "Progress",
    "add",
    "checked",
    "evaluation_id",
    "of_response",
    "open_source",
    "read",
    "unchecked",
]
