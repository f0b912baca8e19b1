"""Random small logs, for hypothesis."""

from hypothesis import settings
from hypothesis import strategies as st

from tests.helpers import Response

quick = settings(max_examples=60, deadline=None)
fewer = settings(max_examples=30, deadline=None)

DATASETS = ("x", "y", "z")
FAMILIES = {"x": "math", "y": "chat", "z": "math"}

variable_step = st.integers(0, 6).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k)))


def constant_step(k):
    return st.tuples(st.just(k), st.integers(0, k))


def responses(step, prompts=("p", "q", None), datasets=DATASETS):
    """Some responses; those of one prompt are its copies. A log holds no response without a step."""
    return st.lists(
        st.builds(
            Response,
            steps=st.lists(step, min_size=1, max_size=6).map(tuple),
            dataset=st.sampled_from(datasets),
            prompt=st.sampled_from(prompts),
        ),
        min_size=1,
        max_size=12,
    )


variable_logs = responses(variable_step)
constant_logs = st.integers(1, 6).flatmap(lambda k: responses(constant_step(k)))
