"""Which run is whose baseline."""

from dataclasses import replace

from specdash.schema import Granularity, Semantics
from specdash.speed.latency.roles import again_of, baseline_of, is_baseline, timed
from tests.helpers import log_run, response, timed_run


def arm(name, **config):
    return timed_run({"e2e_s": 1.0}, name=name, config=config)


def drafted(name, **config):
    run = log_run([response((3, 1))], name=name, config=config, granularity=Granularity.RESPONSE)
    return replace(run, latencies=arm(name).latencies)


BASE, BASE4 = arm("b1", arm="baseline", concurrency=1), arm("b4", arm="baseline", concurrency=4)
AGAIN = arm("again", arm="baseline again", concurrency=4)
SPEC4 = drafted("s4", arm="spec", concurrency=4)


def test_baselines_are_known_by_what_they_say():
    assert all(map(is_baseline, (BASE, AGAIN, arm("x", label="baseline"), arm("vanilla_c4"), arm("x"))))
    assert not any(map(is_baseline, (SPEC4, arm("x", label="ngram"), drafted("x"))))


def test_the_baseline_of_the_same_load():
    runs = (BASE, AGAIN, BASE4, SPEC4)
    assert baseline_of(runs, SPEC4) is BASE4
    assert again_of(runs, BASE4) is AGAIN
    assert again_of(runs, BASE) is None
    assert baseline_of((BASE, SPEC4), SPEC4) is None
    assert baseline_of(runs, BASE4) is None
    assert baseline_of(runs, log_run([response((3, 1))])) is None
    other = replace(SPEC4, config={"arm": "spec", "concurrency": 4, "model": "large"})
    assert baseline_of((arm("b", arm="baseline", concurrency=4, model="small"), BASE4), other) is BASE4
    assert baseline_of((replace(BASE4, semantics=Semantics("A")),), replace(SPEC4, semantics=Semantics("B"))) is None
    assert timed((log_run([response((3, 1))]), BASE)) == [BASE]
