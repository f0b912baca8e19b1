import pytest


@pytest.fixture(autouse=True)
def library(tmp_path_factory, monkeypatch):
    """An empty library, so that no test meets the user's."""
    folder = tmp_path_factory.mktemp("home") / "specdash"
    monkeypatch.setenv("SPECDASH_HOME", str(folder))
    return folder
