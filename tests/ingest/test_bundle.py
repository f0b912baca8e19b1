"""Files that are given together."""

import io
import zipfile

from specdash.ingest.bundle import bundle


def contents(files):
    with zipfile.ZipFile(io.BytesIO(b"".join(bundle(files)))) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def test_every_file_is_there_under_its_name():
    files = [("b.log", [b"one", b"two"]), ("a.json", [b"{}"]), ("Ünï cødé.csv", []), ("../../up.txt", [b"x"])]
    assert contents(files) == {"a.json": b"{}", "b.log": b"onetwo", "Ünï cødé.csv": b"", "up.txt": b"x"}


def test_files_of_one_name_are_all_kept():
    files = [("m.prom", [b"1"]), ("m.prom", [b"2"]), ("M.PROM", [b"3"])]
    assert sorted(contents(files).values()) == [b"1", b"2", b"3"]


def test_the_same_files_are_the_same_bytes_in_any_order():
    one, two = ("before.prom", [b"1" * 3_000_000]), ("after.prom", [b"2"])
    assert b"".join(bundle([one, two])) == b"".join(bundle([two, one]))
