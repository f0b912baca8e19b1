"""Scrapes as servers write them."""


def vllm(*engines, served=None, positions=True):
    """A scrape of vLLM: a tuple (drafts, drafted, accepted at each position) an engine."""
    lines = ["# TYPE vllm:num_requests_running gauge", 'vllm:num_requests_running{engine="0",model_name="m"} 1.0']
    for number, (drafts, drafted, accepted) in enumerate(engines):
        labels = f'engine="{number}",model_name="m"'
        lines += [
            f"vllm:spec_decode_num_drafts_total{{{labels}}} {float(drafts)}",
            f"vllm:spec_decode_num_drafts_created{{{labels}}} 1.79e+09",
            f"vllm:spec_decode_num_draft_tokens_total{{{labels}}} {float(drafted)}",
            f"vllm:spec_decode_num_accepted_tokens_total{{{labels}}} {float(sum(accepted))}",
        ]
        name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
        lines += [f'{name}{{{labels},position="{i}"}} {float(n)}' for i, n in enumerate(accepted) if positions]
    if served is not None:
        lines.append(
            f'vllm:request_success_total{{engine="0",finished_reason="length",model_name="m"}} {float(served)}'
        )
    return "\n".join(lines) + "\n"


def steady(drafts):
    """A scrape of one engine that always drafts 3 and accepts 2 of them."""
    return vllm((drafts, 3 * drafts, (drafts, drafts, 0)))
