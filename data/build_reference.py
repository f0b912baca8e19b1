"""Builds the reference evaluation from the printed tables next to this file, then checks the written zip.

Usage: ``python data/build_reference.py [--out data/reference.zip] [--verify-only]``
"""

import argparse
import sys
from pathlib import Path

from reference_builder.build import reconstruct
from reference_builder.tables import read_tables
from reference_builder.verify import Report, verify
from reference_builder.writer import write_zip

HERE = Path(__file__).resolve().parent


def show(report: Report) -> None:
    """Print the violations, then the largest deviation of every column that has a tolerance."""
    for violation in report.violations:
        print(f"VIOLATED {violation}")
    for column, deviation in report.worst.items():
        print(f"  {column}: worst deviation {deviation:.4f}")
    print(f"{report.cells} cells checked, {len(report.violations)} violations")


def main() -> int:
    """Build, write and check; return 1 if a cell is violated."""
    parser = argparse.ArgumentParser(description="Build the reference evaluation from its printed tables.")
    parser.add_argument("--out", type=Path, default=HERE / "reference.zip", help="the zip to write")
    parser.add_argument("--verify-only", action="store_true", help="check an existing zip, build nothing")
    arguments = parser.parse_args()
    tables = read_tables(HERE / "reference_tables")
    if not arguments.verify_only:
        write_zip(reconstruct(tables), arguments.out)
        print(f"wrote {arguments.out} ({arguments.out.stat().st_size / 1e6:.2f} MB)")
    report = verify(arguments.out, tables)
    show(report)
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
