"""The least that has to be done: extract the log of the reference zip and count it with DuckDB."""

import sys
import tempfile
import zipfile
from pathlib import Path

import duckdb

COLUMNS = "columns={'r': 'BIGINT', 'd': 'UTINYINT', 'a': 'UTINYINT'}, header=false, auto_detect=false"


def count(archive: Path, folder: Path) -> int:
    """Return the number of (request, drafted, accepted) groups."""
    with zipfile.ZipFile(archive) as opened:
        name = next(name for name in opened.namelist() if name.endswith("spec_log.csv"))
        log = opened.extract(name, folder)
    query = f"SELECT r, d, a, count(*) FROM read_csv('{log}', {COLUMNS}) GROUP BY ALL"
    return len(duckdb.connect().execute(query).fetchnumpy()["r"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(count(Path(sys.argv[1]), Path(folder)))
