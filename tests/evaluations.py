"""Evaluations that tests build: small zips that stand for the logs people have, and the reference evaluation."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specdash import ingest
from specdash.store import Store
from tests.helpers import Response, Step

REFERENCE = Path(__file__).resolve().parents[1] / "data" / "reference.zip"
REFERENCE_ID = "4c6ca3729fdb"

LONG = "a dataset whose name goes on and on " * 8 + "until character 300"
assert len(LONG) > 300
LONG = LONG[:300]
ODD_NAMES = (
    "gsm8k",
    "😀 emoji 👩‍👩‍👧",
    "مجموعة بيانات",
    LONG,
    "__proto__",
    '=cmd("calc")',
    "<b>x</b>",
    r"$\alpha$",
    "**bold**",
    ":red[x]",
    ":smile:",
)
"""Names a page could take for markup, a formula or code, or that break a layout."""
ODD_TITLE = r"<b>x</b> **bold** :red[x] :smile: $\alpha$ 😀 عنوان =cmd() __proto__ " + "title " * 50
ODD_RUN = r"😀 =cmd() **bold** :red[x] :smile: عربي __proto__"


@dataclass(frozen=True)
class Built:
    """An evaluation as a zip.

    Attributes:
        name: File name of the zip.
        files: Content by path.
    """

    name: str
    files: dict[str, str | bytes]

    def zipped(self) -> bytes:
        """The bytes of the zip, the same each time."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in self.files.items():
                archive.writestr(zipfile.ZipInfo(path), content, compress_type=zipfile.ZIP_DEFLATED)
        return buffer.getvalue()

    def write(self, folder: Path) -> Path:
        """Write the zip into a folder."""
        path = folder / self.name
        path.write_bytes(self.zipped())
        return path


def steps_of(seed: str, count: int, draw_k: Callable[[random.Random], int], rate: float = 0.75) -> tuple[Step, ...]:
    """Steps that accept each next token at about ``rate``, the same for the same seed."""
    rng = random.Random(seed)
    steps = []
    for _ in range(count):
        k = draw_k(rng)
        accepted = 0
        while accepted < k and rng.random() < rate:
            accepted += 1
        steps.append((k, accepted))
    return tuple(steps)


def responses_of(
    datasets: Iterable[str], *, k: Callable[[random.Random], int], prompts: Iterable[str] = "012", copies: int = 3
) -> list[Response]:
    """Responses to a few prompts of each dataset; prompts differ in difficulty, copies by chance."""
    made = []
    for d, dataset in enumerate(datasets):
        for p, prompt in enumerate(prompts):
            for copy in range(copies):
                rate = 0.5 + 0.4 * ((3 * d + 2 * p) % 7) / 7
                steps = steps_of(f"{dataset} {prompt} {copy}", 8 + (5 * p + copy) % 9, k, rate)
                tokens = 1 + sum(1 + a for _, a in steps)
                made.append(Response(steps, dataset, prompt, copy, tokens))
    return made


def logged(responses: Iterable[Response]) -> str:
    """The step log of some responses, numbered from 0."""
    lines = ["request_id,drafted,accepted"]
    lines += [f"{i},{drafted},{accepted}" for i, r in enumerate(responses) for drafted, accepted in r.steps]
    return "\n".join(lines) + "\n"


def sampled(responses: Iterable[Response]) -> str:
    """The samples file of some responses."""
    lines = [
        {
            "request_id": i,
            "dataset": r.dataset,
            "question_id": r.prompt,
            "copy": r.copy,
            "num_drafts": sum(1 for drafted, _ in r.steps if drafted),
            "draft_tokens": sum(drafted for drafted, _ in r.steps),
            "accepted_tokens": sum(accepted for _, accepted in r.steps),
            "output_tokens": r.output_tokens,
        }
        for i, r in enumerate(responses)
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def run_files(responses: Iterable[Response], folder: str) -> dict[str, str]:
    """A run folder: log, samples and a configuration."""
    responses = list(responses)
    config = {"model": "target", "drafter": "draft", "k": max(k for r in responses for k, _ in r.steps)}
    return {
        f"{folder}/spec_log.csv": logged(responses),
        f"{folder}/samples.jsonl": sampled(responses),
        f"{folder}/config.json": json.dumps(config),
    }


def _always(k: int) -> Callable[[random.Random], int]:
    return lambda _: k


def _from_none_to(k: int) -> Callable[[random.Random], int]:
    return lambda rng: rng.randint(0, k)


def counters_only() -> Built:
    """Counters of a server, without responses."""
    found = {}
    for dataset in ("gsm8k", "humaneval", "alpaca"):
        accepted = Counter(a for _, a in steps_of(dataset, 500, _always(4)))
        per_position = [sum(n for a, n in accepted.items() if a > i) for i in range(4)]
        found[dataset] = {
            "num_samples": 40,
            "num_drafts": 500,
            "num_draft_tokens": 2000,
            "num_accepted_tokens": sum(per_position),
            "per_pos": per_position,
        }
    return Built("counters-only.zip", {"server/counters.json": json.dumps(found)})


def rates_only() -> Built:
    """A printed table, without counts."""
    table = (
        "+-----------+-----------+------------+----------+---------------+---------------+\n"
        "| dataset   | #propose  | accept_len | verify_rate | accept_rate@0 | accept_rate@1 |\n"
        "+-----------+-----------+------------+----------+---------------+---------------+\n"
        "| gsm8k     | 6.98+1    | 4.97       | 0.62        | 0.91          | 0.80          |\n"
        "| humaneval | 6.95+1    | 5.36       | 0.67        | 0.91          | 0.82          |\n"
        "+-----------+-----------+------------+----------+---------------+---------------+\n"
    )
    return Built("rates-only.zip", {"printed/results_table.txt": table})


def one_response() -> Built:
    """A run of a single response."""
    return Built(
        "one-response.zip", run_files([Response(steps_of("one", 12, _always(7)), "gsm8k", "0", 0, 60)], "single")
    )


def without_samples() -> Built:
    """A step log that nothing stands beside."""
    return Built("without-samples.zip", {"bare/spec_log.csv": logged(responses_of(["gsm8k"], k=_always(5)))})


def variable_k() -> Built:
    """A run whose steps draft 0 to 5 tokens."""
    return Built("variable-k.zip", run_files(responses_of(["gsm8k", "mbpp", "alpaca"], k=_from_none_to(5)), "adaptive"))


def block_of(k: int) -> Built:
    """A run whose steps all draft ``k`` tokens."""
    return Built(f"k{k}.zip", run_files(responses_of(["gsm8k", "mbpp"], k=_always(k)), f"k_{k}"))


def forty_datasets() -> Built:
    """A run over forty datasets."""
    names = [f"dataset-{i:02d}" for i in range(40)]
    return Built("forty.zip", run_files(responses_of(names, k=_always(7), prompts="01", copies=2), "wide"))


def thirty_prompts() -> Built:
    """A run over thirty prompts of each of two datasets, long enough to rank them, in the order it was logged."""
    made = responses_of(["gsm8k", "alpaca"], k=_always(4), prompts=[f"task-{i:02d}" for i in range(30)], copies=3)
    return Built("thirty.zip", run_files(made, "ranked"))


def odd_names() -> Built:
    """A run whose every name is one that a page could trip over."""
    responses = responses_of(ODD_NAMES, k=_always(5), prompts=ODD_NAMES[1:4], copies=2)
    about = {"title": ODD_TITLE, "note": "A note: <i>y</i> *z* $\\beta$ :red[w]"}
    return Built("odd-names.zip", run_files(responses, ODD_RUN) | {"evaluation.json": json.dumps(about)})


def measured_ab() -> Built:
    """An A/B measurement by ``specdash bench``: 24 prompts, a token every 10 ms alone, a step of 2.5 every 15 ms."""
    rng, requests = random.Random("ab"), []
    record = {"acceptance_histogram": [2, 2, 2, 2], "num_spec_steps": 8, "num_accepted_draft_tokens": 12}
    record |= {"num_draft_tokens": 24, "num_spec_tokens": 3}
    record |= {"per_step_accepted": [0, 1, 2, 3] * 2, "per_step_drafted": [3] * 8}
    for prompt in range(24):
        slow = 1 + 0.5 * rng.random()
        for arm, chunks, pace in (("baseline", 21, 0.010), ("spec", 9, 0.015)):
            steps = [slow * pace * rng.uniform(0.9, 1.1) for _ in range(chunks - 1)]
            times = [0.05 * rng.uniform(0.9, 1.1)]
            for step in steps:
                times.append(times[-1] + step)
            said = {"vllm": {"speculative_decoding": record}} if arm == "spec" else {}
            made = {"concurrency": 1, "arm": arm, "prompt": prompt, "start_s": float(prompt), "error": None}
            made |= {"chunks_s": times, "input_tokens": 40 + prompt, "output_tokens": 21, "said": said}
            requests.append(made)
    document = {
        "specdash_bench": 1,
        "state": "complete",
        "settings": {"max_tokens": 21, "temperature": 0.0},
        "arms": [{"name": "baseline", "model": "m"}, {"name": "spec", "model": "m"}],
        "prompts": [{"id": str(i), "dataset": "gsm8k" if i % 2 else "alpaca"} for i in range(24)],
        "requests": requests,
        "counters": [],
    }
    return Built("ab.zip", {"ab/bench.json": json.dumps(document)})


def broken() -> Built:
    """A log that accepts more than it drafted, on its line 4."""
    return Built("broken.zip", {"run/spec_log.csv": "request_id,drafted,accepted\n0,7,3\n0,7,2\n0,5,6\n1,7,1\n"})


def two_datasets(title: str = "two") -> Built:
    """A small sound run."""
    files = run_files(responses_of(["gsm8k", "alpaca"], k=_always(3), prompts="01", copies=2), "small")
    return Built(f"{title}.zip", files | {"evaluation.json": json.dumps({"title": title})})


def tokens_only() -> Built:
    """Two answers whose server counts drafted and accepted tokens, and no steps."""
    timings = [
        {"predicted_n": 11, "predicted_ms": 80.5, "draft_n": 20, "draft_n_accepted": 5},
        {"predicted_n": 9, "predicted_ms": 70.5, "draft_n": 12, "draft_n_accepted": 3},
    ]
    answers = [{"question_id": f"q{i}", "category": "math", "response": {"timings": t}} for i, t in enumerate(timings)]
    return Built("tokens.zip", {"run/answers.jsonl": "".join(json.dumps(answer) + "\n" for answer in answers)})


BUILT = {
    "counters": counters_only,
    "rates": rates_only,
    "tokens": tokens_only,
    "one": one_response,
    "bare": without_samples,
    "variable": variable_k,
    "k1": lambda: block_of(1),
    "k16": lambda: block_of(16),
    "forty": forty_datasets,
    "odd": odd_names,
    "thirty": thirty_prompts,
    "ab": measured_ab,
}
"""The small evaluations, by a short name."""


def fill(store: Store, folder: Path) -> dict[str, str]:
    """Add all of them, and the reference last, to a library that a dashboard then takes as it is.

    Args:
        store: The library.
        folder: For the zips.

    Returns:
        Ids by short name; "reference" is the reference.
    """
    ids = {name: ingest.add(build().write(folder), store).id for name, build in BUILT.items()}
    ids["reference"] = ingest.add(REFERENCE, store).id
    store.set_started()
    return ids


SLOW_STEPS = 6_000_000


@cache
def _million_rows() -> bytes:
    """A gzipped million of steps."""
    block = "".join(f"{{0}}{i % 10},7,{(i * i) % 8}\n" for i in range(1000))
    return gzip.compress("".join(map(block.format, range(1, 1001))).encode(), compresslevel=1)


def slow_log(name: str, steps: int = SLOW_STEPS) -> Built:
    """A sound log of some millions of steps that takes seconds to read: its first row makes it be read row by row."""
    head = gzip.compress(b'request_id,drafted,accepted\n10, "7", "7"\n')
    tail = gzip.compress(f"{name},0,0\n".encode())  # Other bytes for another name; a step without a draft is none.
    return Built(f"{name}.zip", {"large/spec_log.csv.gz": head + _million_rows() * (steps // 10**6) + tail})
