"""Random small logs, for hypothesis."""

from hypothesis import settings
from hypothesis import strategies as st

from tests.helpers import Response

quick = settings(max_examples=30, deadline=None)
fewer = settings(max_examples=15, deadline=None)

DATASETS = ("x", "y", "z")
FAMILIES = {"x": "math", "y": "chat", "z": "math"}

# One choice a step: strategies that are built while drawing take most of a test's time.
variable_step = st.sampled_from([(k, a) for k in range(7) for a in range(k + 1)])


def constant_step(k):
    return st.sampled_from([(k, a) for a in range(k + 1)])


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
