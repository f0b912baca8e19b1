"""How much memory tools' files take to read: ``python -m tests.benchmarks.formats [MEGABYTES]``.

Line formats are written to a temporary folder, 1 GB each unless said otherwise, and read by a process of their own.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

from tests.benchmarks.reading import process

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
READ = """
import sys, tempfile
from pathlib import Path
from specdash.ingest.options import Options
from specdash.ingest.read import read_source
from specdash.ingest.source import open_source
with tempfile.TemporaryDirectory() as folder, open_source(Path(sys.argv[1]), Path(folder)) as source:
    found = read_source(source, Path(folder), Options())
    run = found.runs[0]
    print(run.granularity, run.responses.height if run.responses is not None else "no responses", file=sys.stderr)
"""


def answers(detailed: bool, text: str) -> Iterator[str]:
    """Lines of vLLM's answers, each with another id; ``text`` is what the model said."""
    path = SAMPLES / "vllm-ngram" / "load_t0_c4" / "responses.jsonl"
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rng = random.Random(0)
    for number, record in enumerate(cycle(found)):
        answer = record["response"]
        answer["id"] = f"cmpl-{number:016x}"
        answer["choices"][0]["text"] = text * rng.randint(1, 20)
        spec = answer["metrics"]["speculative_decoding"]
        if not detailed:
            spec = spec | {"per_step_accepted": None, "per_step_drafted": None}
        around = record | {"question_id": str(number // 10)}
        metrics = answer["metrics"] | {"speculative_decoding": spec}
        yield json.dumps(around | {"response": answer | {"metrics": metrics}}) + "\n"


def records() -> Iterator[str]:
    """Lines of AIPerf's records."""
    path = SAMPLES / "aiperf" / "ngram_chat_stream_c4_t0" / "profile_export.jsonl"
    for number, line in enumerate(cycle(path.read_text("utf-8").splitlines())):
        record = json.loads(line)
        record["metadata"]["x_request_id"] = f"{number:032x}"
        yield json.dumps(record) + "\n"


def log() -> Iterator[str]:
    """Lines of vLLM's log."""
    lines = (SAMPLES / "vllm-ngram" / "server.log").read_text("utf-8").splitlines(keepends=True)
    return cycle(lines)


def written(lines: Iterator[str], path: Path, size: int) -> None:
    """Write lines until a file has a size."""
    done = 0
    with path.open("w", encoding="utf-8") as out:
        while done < size:
            chunk = "".join(islice(lines, 2000))
            done += out.write(chunk)


LINES: dict[str, Callable[[], Iterator[str]]] = {
    "vLLM answers, detailed, short": lambda: answers(True, ""),
    "vLLM answers, summary, short": lambda: answers(False, ""),
    "vLLM answers, detailed, with texts": lambda: answers(True, "some words " * 20),
    "AIPerf records": records,
    "vLLM server log": log,
}


def bench(path: Path, size: int) -> None:
    """A detailed result of ``vllm bench serve`` in one document."""
    found = json.loads((SAMPLES / "vllm-bench" / "ngram_c4_t0.json").read_text("utf-8"))
    times = max(1, size // (SAMPLES / "vllm-bench" / "ngram_c4_t0.json").stat().st_size)
    longer = {
        name: value * times if isinstance(value, list) and len(value) == 48 else value for name, value in found.items()
    }
    longer["generated_texts"] = ["some words " * 20] * (48 * times)
    path.write_text(json.dumps(longer), "utf-8")


def guidellm(path: Path, size: int) -> None:
    """GuideLLM's benchmarks in one document."""
    record = json.loads((SAMPLES / "vllm-ngram" / "load_t0_c4" / "responses.jsonl").read_text("utf-8").splitlines()[0])
    request = {
        "request_args": json.dumps({"body": "some words " * 40}),
        "output": "some words " * 20,
        "request_start_time": 1.5,
        "request_latency": 0.25,
        "time_to_first_token_ms": 12.5,
        "output_tokens": 96,
        "response_metrics": record["response"]["metrics"],
    }
    count = max(1, size // len(json.dumps(request)))
    requests = [request | {"request_id": f"{i:032x}"} for i in range(count)]
    found = {"metadata": {"guidellm_version": "0.8.1"}, "benchmarks": [{"requests": {"successful": requests}}]}
    path.write_text(json.dumps(found), "utf-8")


DOCUMENTS: dict[str, Callable[[Path, int], None]] = {"vllm bench serve result": bench, "GuideLLM benchmarks": guidellm}


def main() -> None:
    """Print every figure."""
    size = (int(sys.argv[1]) if len(sys.argv) > 1 else 1000) * 10**6
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "one.jsonl"
        written(answers(True, ""), empty, 1)
        base = process(sys.executable, "-c", READ, empty).peak
        print(f"{'a few answers: peak memory':<50} {base / 1e6:6.0f} MB", flush=True)
        for what, lines in LINES.items():
            path = Path(folder) / "lines.jsonl"
            written(lines(), path, size)
            run = process(sys.executable, "-c", READ, path)
            print(f"{what:<50} {run.peak / 1e6:6.0f} MB   at most 500   ({run.seconds:.0f} s)", flush=True)
        for what, make in DOCUMENTS.items():
            path = Path(folder) / "document.json"
            make(path, size // 10)
            run = process(sys.executable, "-c", READ, path)
            times = (run.peak - base) / path.stat().st_size
            print(f"{what:<50} {times:6.1f} × its size   at most 6   ({run.seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
