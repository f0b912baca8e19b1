"""Arms of requests for the tests of the latency comparison."""

from specdash.speed.latency import Arm
from tests.helpers import latencies


def timing(e2e, *, ttft=0.1, tokens=11, prompt=None, **rest):
    """A request that took ``e2e`` seconds."""
    return {"prompt": prompt, "ttft_s": ttft, "e2e_s": e2e, "output_tokens": tokens} | rest


def arm(name, *rows, concurrency=1):
    return Arm(name, latencies(*rows), concurrency)


def prompts(name, seconds, **rest):
    """An arm of one answer a prompt, the prompts numbered."""
    return arm(name, *(timing(s, prompt=str(i), **rest) for i, s in enumerate(seconds)))


def unlabelled(name, seconds, **rest):
    """An arm whose requests do not say their prompt."""
    return arm(name, *(timing(s, **rest) for s in seconds))
