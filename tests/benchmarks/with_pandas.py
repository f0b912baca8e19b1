"""The report's tables as one would compute them with pandas, for comparison."""

import itertools
import json
import sys
import zipfile

import numpy as np
import pandas as pd
from scipy.optimize import brentq

RUN = "7_draft_best_of_10"


def main(archive: str) -> None:
    with zipfile.ZipFile(archive) as opened:
        with opened.open(f"{RUN}/spec_log.csv") as stream:
            log = pd.read_csv(stream, header=None, names=["request", "drafted", "accepted"])
        with opened.open(f"{RUN}/samples.jsonl") as stream:
            samples = pd.read_json(stream, lines=True)
    samples["request"] = np.arange(len(samples))
    names = ["request", "dataset", "question_id", "output_tokens", "num_drafts", "accepted_tokens"]
    log = log.merge(samples[names], on="request")
    responses = log.groupby(["request", "dataset", "question_id", "output_tokens", "num_drafts", "accepted_tokens"])
    responses = responses.agg(steps=("accepted", "size"), accepted=("accepted", "sum")).reset_index()
    assert (responses.steps == responses.num_drafts).all() and (responses.accepted == responses.accepted_tokens).all()
    responses["tau"] = 1 + responses.accepted / responses.steps
    tables = {name: table(group, responses[responses.dataset == name]) for name, group in log.groupby("dataset")}
    tables["pooled"] = table(log, responses)
    print(json.dumps(tables, default=float))


def table(log: pd.DataFrame, responses: pd.DataFrame) -> dict:
    """Return tables 1 to 6 of one dataset."""
    k = int(log.drafted.max())
    outcome = log.accepted.value_counts(normalize=True).reindex(range(k + 1), fill_value=0.0)
    p = [float((log.accepted >= i + 1).mean()) for i in range(k)]
    tau = 1 + log.accepted.mean()
    tau_r = responses.tau
    by_prompt = responses.groupby(["dataset", "question_id"]).tau
    copies = by_prompt.agg(["size", "mean", "std", "min", "max"])
    within = ((tau_r - by_prompt.transform("mean")) ** 2).sum() / ((tau_r - tau_r.mean()) ** 2).sum()
    return {
        "steps": len(log),
        "tau": tau,
        "step_std": log.accepted.std(ddof=0),
        "implied_alpha": brentq(lambda a: (1 - a ** (k + 1)) / (1 - a) - tau, 0, 1 - 1e-9),
        "p": p,
        "c": [p[0], *(b / a for a, b in itertools.pairwise(p))],
        "outcome": outcome.tolist(),
        "tau_at_k": [1 + np.minimum(log.accepted, n).mean() for n in range(1, k + 1)],
        "response_mean": tau_r.mean(),
        "quantiles": tau_r.quantile([0.1, 0.5, 0.9]).tolist(),
        "response_std": tau_r.std(ddof=0),
        "within_share": within,
        "copy_std": copies["std"].mean(),
        "copy_range": (copies["max"] - copies["min"]).mean(),
        "copy_max": copies["max"].mean(),
        "copy_min": copies["min"].mean(),
        "corr_tau_tokens": tau_r.corr(responses.output_tokens),
    }


if __name__ == "__main__":
    main(sys.argv[1])
