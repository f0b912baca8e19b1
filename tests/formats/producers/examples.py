"""A small valid file of every producer's format, by its key."""

import json

from tests.formats.producers import (
    test_aiperf,
    test_atom,
    test_candidate_steps,
    test_deepspec,
    test_dflash,
    test_dflash_mlx,
    test_dflash_printed,
    test_guidellm,
    test_inferencex,
    test_jointadaspec,
    test_llamacpp_answers,
    test_llamacpp_log,
    test_llamacpp_metrics,
    test_lmdeploy,
    test_mlxvlm_answers,
    test_openai_usage,
    test_prometheus,
    test_proposals,
    test_question_benches,
    test_sglang_answers,
    test_sglang_bench,
    test_sglang_log,
    test_sglang_metrics,
    test_sglang_requests,
    test_specdash_bench,
    test_specdec_bench,
    test_specforge,
    test_speculators,
    test_trtllm_answers,
    test_trtllm_iterations,
    test_trtllm_metrics,
    test_vllm_answers,
    test_vllm_bench,
    test_vllm_logs,
    test_vllm_metrics,
    test_vllm_offline,
    test_vllm_v0,
)


def _lines(*objects):
    return "".join(json.dumps(found) + "\n" for found in objects)


def _several(*objects):
    """The formats of a server's answers: one alone, and several."""
    return json.dumps(objects[0]), _lines(*objects, *objects[:1])


def _answer_of(**fields):
    choice = test_question_benches.EAGLE["choices"][0] | fields
    return _lines(test_question_benches.EAGLE | {"choices": [choice]})


_LLAMACPP, _LLAMACPP_LINES = _several(test_llamacpp_answers.native(), test_llamacpp_answers.chat())
_MLXVLM, _MLXVLM_LINES = _several({"id": "a", "choices": [{}], "timings": test_mlxvlm_answers.TIMINGS})
_SGLANG, _SGLANG_LINES = _several(test_sglang_answers.native(), test_sglang_answers.chat(test_sglang_answers.META))
_TRTLLM, _TRTLLM_LINES = _several(
    test_trtllm_answers.answer(test_trtllm_answers.STATS), test_trtllm_answers.perf(test_trtllm_answers.STATS)
)
_VLLM, _VLLM_LINES = _several(
    test_vllm_answers.answer(test_vllm_answers.RECORD), test_vllm_answers.answer(test_vllm_answers.SUMMARY, "b")
)
_OPENAI, _OPENAI_LINES = _several(test_openai_usage.answer(30, 10), test_openai_usage.answer(6, 14, "b"))

EXAMPLES = {
    "aiperf": test_aiperf.lines(test_aiperf.RECORD, test_aiperf.CANCELLED),
    "aiperf-report": test_aiperf.REPORT,
    "atom-log": test_atom.FIRST + test_atom.SECOND,
    "atom-metrics": "atom:mtp_draft_tokens_total 30.0\natom:mtp_accepted_tokens_total 17.0\n"
    + "".join(
        f'atom:mtp_decode_steps_total{{accepted_tokens="{j}"}} {n}.0\n'
        for j, n in test_atom.STATS["distribution"].items()
    ),
    "atom-stats": json.dumps(test_atom.STATS),
    "candidate-steps": test_candidate_steps.ROWS,
    "deepspec-metrics": test_deepspec.metrics(),
    "dflash-console": test_dflash_printed.console(),
    "dflash-metrics": test_dflash_printed.METRICS,
    "dflash-mlx": test_dflash_mlx.result(test_dflash_mlx.RUN),
    "dflash-positions": test_dflash_printed.POSITIONS,
    "dflash-samples": test_dflash_printed.SAMPLES,
    "dflash-standalone": test_dflash.result(),
    "eagle-alpha": _answer_of(alpha=[3, 1], alpha_num=[4, 3]),
    "eagle-answers": _answer_of(),
    "guidellm": test_guidellm.report(
        {"successful": [test_guidellm.request("a")], "errored": [], "incomplete": [test_guidellm.request("c", None)]}
    ),
    "hass-answers": _answer_of(accept_length=[[2, 0, 2], [1]]),
    "inferencex-golden": test_inferencex.CURVE,
    "jointadaspec-prompts": test_jointadaspec.HEAD
    + "\njoint,1,0,9,0.6,450.0,20.0,5,12\njoint,1,1,9,0.5,500.0,18.0,6,12\n",
    "jointadaspec-results": test_jointadaspec.lines(test_jointadaspec.LINE, test_jointadaspec.OTHER),
    "latency-csv": "baseline_ms,spec_ms\n1500,750\n,500\n2000,1000\n",
    "llamacpp-answer": _LLAMACPP,
    "llamacpp-answers": _LLAMACPP_LINES,
    "llamacpp-log": test_llamacpp_log.START
    + test_llamacpp_log.request(10, 20, tokens=21)
    + test_llamacpp_log.statistics("draft", 10, 7, 20, 10),
    "llamacpp-metrics": test_llamacpp_metrics.scrape(10, 30, 15, [8, 5, 2]),
    "lmdeploy-log": test_lmdeploy.FIRST + test_lmdeploy.SECOND,
    "lmdeploy-metrics": test_lmdeploy.scrape(10, 20, [7, 3]),
    "mlxvlm-answer": _MLXVLM,
    "mlxvlm-answers": _MLXVLM_LINES,
    "openai-usage-answer": _OPENAI,
    "openai-usage-answers": _OPENAI_LINES,
    "prometheus-query": test_prometheus.answer(
        "matrix",
        drafts=[test_prometheus.DRAFTS],
        draft_tokens=[test_prometheus.DRAFTED],
        accepted_tokens=[test_prometheus.ACCEPTED],
    ),
    "sglang-answer": _SGLANG,
    "sglang-answers": _SGLANG_LINES,
    "sglang-bench": _lines(test_sglang_bench.result(**test_sglang_bench.DETAILS)),
    "sglang-bench-console": "== Serving Benchmark Result ==\nBackend:     sglang\nAccept length:       2.77\n====\n",
    "sglang-log": test_sglang_log.START + test_sglang_log.line("3.00") + test_sglang_log.line("1.50"),
    "sglang-metrics": test_sglang_metrics.scrape(),
    "sglang-requests": test_sglang_requests.finish() + test_sglang_requests.finish(id="y"),
    "spec-bench": _lines(test_question_benches.SPEC_BENCH),
    "specdash-bench": json.dumps(test_specdash_bench.document(*test_specdash_bench.BOTH)),
    "specdec-bench": json.dumps([test_specdec_bench.RUN]),
    "specforge-results": test_specforge.RESULTS,
    "speculators-acceptance": test_speculators.table(test_speculators.QA, test_speculators.CODE),
    "trtllm-answer": _TRTLLM,
    "trtllm-answers": _TRTLLM_LINES,
    "trtllm-iterations": json.dumps(test_trtllm_iterations.LIST),
    "trtllm-metrics": test_trtllm_metrics.scrape(100.0, 40.0, 2.0),
    "vllm-answer": _VLLM,
    "vllm-answers": _VLLM_LINES,
    "vllm-bench": json.dumps(test_vllm_bench.BASE | test_vllm_bench.SPEC | test_vllm_bench.DETAILED),
    "vllm-bench-console": test_vllm_bench.CONSOLE,
    "vllm-log": test_vllm_logs.TWO,
    "vllm-metrics": test_vllm_metrics.ONE,
    "vllm-offline": test_vllm_offline.COUNTS,
    "vllm-proposals": test_proposals.TRACE,
    "vllm-v0-metrics": test_vllm_v0.TEXT,
}
"""Content by key; the name it has to have, where a format has one, is in NAMES."""

NAMES = {"inferencex-golden": "golden.yaml"}
