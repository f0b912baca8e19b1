"""A small evaluation of known truth, and the many ways in which it may be written down."""

import csv
import gzip
import io
import json
import random
import shutil
import statistics
import uuid
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

K = 7
PROMPTS, COPIES = 12, 3
DATASETS = ("gsm8k", "alpaca", "mbpp")  # in the order of the run, which is not that of the alphabet
FAMILIES = {"gsm8k": "math", "alpaca": "chat", "mbpp": "code"}
PER_DATASET = PROMPTS * COPIES
MIDDLE_AND_END = frozenset({17, 2 * PER_DATASET - 1})
FIRST_AND_MIDDLE = frozenset({0, 50})


@dataclass(frozen=True)
class Response:
    dataset: str
    prompt: int
    copy: int
    number: int
    uuid: str
    steps: tuple[tuple[int, int], ...]
    output_tokens: int

    @property
    def accepted(self):
        return sum(a for _, a in self.steps)


def responses(seed=7, k=K):
    """Return the responses in run order; no two near each other have the same counts."""
    random_ = random.Random(seed)
    made = []
    for number in range(len(DATASETS) * PER_DATASET):
        while True:
            steps = tuple((k, random_.randint(0, k)) for _ in range(random_.randint(3, 20)))
            key = (len(steps), sum(a for _, a in steps))
            if all(key != (len(r.steps), r.accepted) for r in made[-6:]):
                break
        dataset, place = divmod(number, PER_DATASET)
        prompt, copy = divmod(place, COPIES)
        tokens = 1 + sum(1 + a for _, a in steps) - random_.randint(0, 2)
        id_ = str(uuid.UUID(int=random_.getrandbits(128), version=4))
        made.append(Response(DATASETS[dataset], prompt, copy, number, id_, steps, tokens))
    return made


@dataclass(frozen=True)
class Shape:
    """How an evaluation is written.

    Attributes:
        ids: How a request is called: ``int``, ``uuid``, ``text`` ("req-5") or ``padded`` ("0005").
        sample_ids: Whether the samples hold the request ids.
        samples: ``one`` file, one a ``folder`` of each dataset, or ``none``.
        header: Header of the log, or None.
        order: Order of the columns of the log (r, k, a; x is an extra one).
        log: ``csv``, ``csv.gz``, or ``parquet`` with ``parquet_type``.
        shards: Number of files of the log.
        newline: Line end of the log.
        bom: Whether log and samples start with a byte order mark.
        quoted: Whether every cell of the log is quoted.
        float_counts: Whether counts are written as 7.0.
        absent: Numbers of the responses without rows.
        junk: Whether litter of operating systems lies about.
        interleaved: Whether the steps of requests alternate.
        names: Names of the samples' fields.
    """

    ids: str = "int"
    sample_ids: bool = False
    samples: str = "one"
    header: tuple[str, ...] | None = ("request_id", "drafted", "accepted")
    order: str = "rka"
    log: str = "csv"
    parquet_type: object = pl.Int64
    shards: int = 1
    newline: str = "\n"
    bom: bool = False
    quoted: bool = False
    float_counts: bool = False
    absent: frozenset = MIDDLE_AND_END
    junk: bool = False
    interleaved: bool = False
    names: tuple[str, ...] = ("prompt_id", "copy", "num_drafts", "accepted_tokens", "output_tokens", "request_id")
    extra: dict = None

    def but(self, **changes):
        return replace(self, **changes)

    def id_of(self, response):
        number = response.number + 100
        return {"int": number, "uuid": response.uuid, "text": f"req-{number}", "padded": f"{number:07d}"}[self.ids]


def write(root: Path, shape: Shape, made=None):
    """Write the evaluation below the folder ``root``."""
    made = responses() if made is None else made
    root.mkdir(parents=True, exist_ok=True)
    logged = [r for r in made if r.number not in shape.absent]
    size = -(-len(logged) // shape.shards)
    for shard in range(shape.shards):
        name = "spec_log" if shape.shards == 1 else f"spec_log_{shard + 9}"  # 9, 10, 11: not in alphabetical order
        _write_log(root / f"{name}.{shape.log}", shape, logged[shard * size : (shard + 1) * size])
    if shape.samples == "one":
        _write_samples(root / "samples.jsonl", shape, made, with_dataset=True)
    elif shape.samples == "folder":
        for dataset in DATASETS:
            chosen = [r for r in made if r.dataset == dataset]
            _write_samples(root / dataset / "samples.jsonl", shape, chosen, with_dataset=False)
    if shape.junk:
        for path in ("__MACOSX/._spec_log.csv", "__MACOSX/run/spec_log.csv", ".DS_Store", "gsm8k/.DS_Store"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(b"\0\5\x16\7")
        (root / "empty" / "deeper").mkdir(parents=True)
    return root


def rows_of(shape, logged):
    """Return the (id, K, a) of every step, in the order of the log."""
    queues = [[(shape.id_of(r), k, a) for k, a in r.steps] for r in logged]
    if not shape.interleaved:
        return [row for queue in queues for row in queue]
    rows = []
    while queues:
        rows += [queue.pop(0) for queue in reversed(queues)]
        queues = [queue for queue in queues if queue]
    return rows


def _write_log(path, shape, logged):
    rows = rows_of(shape, logged)
    if shape.float_counts:
        rows = [(id_, float(k), float(a)) for id_, k, a in rows]
    table = [[{"r": id_, "k": k, "a": a, "x": f"x, {i}"}[c] for c in shape.order] for i, (id_, k, a) in enumerate(rows)]
    if shape.log == "parquet":
        columns = {name: pl.Series([row[i] for row in table]) for i, name in enumerate(shape.header)}
        numbers = [name for name, c in zip(shape.header, shape.order, strict=True) if c != "x"]
        frame = pl.DataFrame(columns)
        keep = pl.col(*numbers) if shape.ids == "int" else pl.col(*numbers[1:])
        frame.with_columns(keep.cast(shape.parquet_type)).write_parquet(path)
        return
    text = io.StringIO()
    writer = csv.writer(
        text, lineterminator=shape.newline, quoting=csv.QUOTE_ALL if shape.quoted else csv.QUOTE_MINIMAL
    )
    if shape.header:
        writer.writerow(shape.header)
    writer.writerows(table)
    content = text.getvalue().encode("utf-8-sig" if shape.bom else "utf-8")
    path.write_bytes(gzip.compress(content) if shape.log.endswith("gz") else content)


def _write_samples(path, shape, made, *, with_dataset):
    path.parent.mkdir(parents=True, exist_ok=True)
    prompt, copy, drafts, accepted, tokens, request = shape.names
    lines = []
    for r in made:
        line = {"dataset": r.dataset} if with_dataset else {}
        line |= {prompt: r.prompt, copy: r.copy, drafts: len(r.steps), accepted: r.accepted, tokens: r.output_tokens}
        line |= {"accept_len": 1 + r.accepted / len(r.steps), "response": "a text, never stored"}
        if shape.sample_ids:
            line[request] = shape.id_of(r)
        lines.append(json.dumps(line | (shape.extra or {})))
    encoding = "utf-8-sig" if shape.bom else "utf-8"
    path.write_bytes("".join(line + shape.newline for line in lines).encode(encoding))


def zipped(folder: Path, target: Path):
    """Pack a folder, empty ones and litter included."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder).as_posix())
    return target


def moved(folder: Path, target: Path):
    """Move a folder to ``target``, making the folders above it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, target)
    return target


# ---- the truth, in plain Python


def truth(made, absent, datasets=DATASETS):
    """Return the metrics of the logged responses of some datasets together, by the definitions of the report."""
    logged = [r for r in made if r.number not in absent and r.dataset in datasets]
    steps = [step for r in logged for step in r.steps]
    s, hits = len(steps), [sum(a > i for _, a in steps) for i in range(K)]
    tau = 1 + sum(a for _, a in steps) / s
    p = [h / s for h in hits]
    mean = sum(a for _, a in steps) / s
    found = {
        "prompts": len({(r.dataset, r.prompt) for r in logged}),
        "responses": len(logged),
        "steps": s,
        "steps_without_draft": 0,
        "drafted": K * s,
        "accepted": sum(hits),
        "tau": tau,
        "tau_all": tau,
        "verify_rate": tau / (K + 1),
        "acceptance_ratio": (tau - 1) / K,
        "p": p,
        "p_exposed": p,
        "p_km": p,
        "c": [h / before for h, before in zip(hits, [s, *hits], strict=False)],
        "outcome": [sum(a == j for _, a in steps) / s for j in range(K + 1)],
        "step_std": (sum((a - mean) ** 2 for _, a in steps) / s) ** 0.5,
        "alpha_mle": sum(hits) / (sum(hits) + sum(a < K for _, a in steps)),
        "tau_at_k": [1 + sum(min(a, k) for _, a in steps) / s for k in range(1, K + 1)],
    }
    return found | _truth_of_responses(logged)


def _truth_of_responses(logged):
    taus = [1 + r.accepted / len(r.steps) for r in logged]
    by_prompt = {}
    for r, tau in zip(logged, taus, strict=True):
        by_prompt.setdefault((r.dataset, r.prompt), []).append(tau)
    mean, copied = statistics.fmean(taus), [group for group in by_prompt.values() if len(group) > 1]
    within = sum((tau - statistics.fmean(group)) ** 2 for group in by_prompt.values() for tau in group)
    return {
        "response_mean": mean,
        **{f"response_p{q}": _quantile(taus, q / 100) for q in (10, 50, 90)},
        "response_std": statistics.pstdev(taus),
        "within_share": within / sum((tau - mean) ** 2 for tau in taus),
        "copy_std": statistics.fmean(map(statistics.stdev, copied)),
        "copy_range": statistics.fmean(max(group) - min(group) for group in copied),
        "copy_max": statistics.fmean(map(max, copied)),
        "copy_min": statistics.fmean(map(min, copied)),
        "corr_tau_tokens": statistics.correlation(taus, [r.output_tokens for r in logged]),
        "corr_tau_steps": statistics.correlation(taus, [len(r.steps) for r in logged]),
    }


def _quantile(values, share):
    ordered, place = sorted(values), share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def without_draws(run):
    """Take out of a run's JSON what is drawn at random: two ways of writing it down are two evaluations, and each has
    a random stream of its own."""
    for row in run["datasets"] + run["families"]:
        del row["tau_se_bootstrap"]
    return run
