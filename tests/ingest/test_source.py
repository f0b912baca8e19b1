import gzip
import hashlib
import os
import random
import resource
import socket
import stat
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specdash.ingest import entries
from specdash.ingest.source import Limits, open_source
from specdash.schema import InputError

LOG = b"request,drafted,accepted\n" + b"17,5,3\n" * 2000
JUNK = (
    "__MACOSX/._log.csv",
    "__MACOSX/run/x.csv",
    ".DS_Store",
    "run/Thumbs.db",
    "desktop.ini",
    "run/._log.csv",
)
HIDDEN = (".git/config", "run/.cache/log.csv")
Usage = namedtuple("Usage", "free")


@pytest.fixture
def workspace(tmp_path):
    return tmp_path / "workspace"


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def patched(path, old, new):
    """Replace a name, in the local header and in the directory."""
    data = path.read_bytes()
    assert data.count(old) == 2
    path.write_bytes(data.replace(old, new))
    return path


def with_header(path, local_offset, value):
    """Set a 2-byte header field of the only member; in the directory it stands 2 bytes further on."""
    data = bytearray(path.read_bytes())
    directory = data.index(b"PK\x01\x02")
    for start in (local_offset, directory + local_offset + 2):
        data[start : start + 2] = value.to_bytes(2, "little")
    path.write_bytes(data)
    return path


def declaring(path, size):
    """Let the directory and the local header of the only member declare ``size`` uncompressed bytes."""
    data = bytearray(path.read_bytes())
    for start in (22, data.index(b"PK\x01\x02") + 24):
        data[start : start + 4] = size.to_bytes(4, "little")
    path.write_bytes(data)
    return path


def open_files():
    return sorted(descriptor.name for descriptor in Path("/proc/self/fd").iterdir())


def refusal(path, workspace, limits=None, **options):
    """Return why the evaluation is refused, sure that it is one line and that no partial file is left."""
    spooled, before = 0, open_files()
    with (
        pytest.raises(InputError) as caught,
        open_source(path, workspace, limits or Limits(), **options) as source,
    ):
        for member in source.members:
            spooled += workspace in member.local().parents
    assert open_files() == before
    assert "\n" not in str(caught.value)
    assert len(list(workspace.glob("*"))) == spooled
    return str(caught.value)


# --- what is read


def test_a_zip_is_its_members_sorted_without_litter(tmp_path, workspace):
    names = ("run/log.csv", "a.json", "run/.env", *JUNK, *HIDDEN, "run/empty/")
    path = zipped(tmp_path / "eval.v2.zip", dict.fromkeys(names, LOG) | {"run/empty/": b""})
    with open_source(path, workspace) as source:
        assert (source.name, source.stem) == ("eval.v2.zip", "eval.v2")
        assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert [member.path for member in source.members] == ["a.json", "run/.env", "run/log.csv"]
        log = source.members[2]
        assert (log.name, log.size) == ("log.csv", len(LOG))
        assert (log.head(24), log.head()) == (LOG[:24], LOG[:65536])
        assert not workspace.exists()
        spooled = log.local()
        assert spooled.parent == workspace
        assert log.local() == spooled
        assert source.members[0].local() != spooled
    assert spooled.read_bytes() == LOG


def test_a_folder_is_its_files_and_is_never_copied(tmp_path, workspace):
    root = tmp_path / "eval.csv"
    for name in ("run/log.csv", "run-2/log.csv", "b.json", *JUNK, *HIDDEN):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    (root / "empty").mkdir()
    names = ["b.json", "run-2/log.csv", "run/log.csv"]
    lines = "".join(f"{name}\0{hashlib.sha256(name.encode()).hexdigest()}\n" for name in names)
    with open_source(root, workspace) as source:
        assert (source.name, source.stem) == ("eval.csv", "eval.csv")
        assert [member.path for member in source.members] == names
        assert source.sha256 == hashlib.sha256(lines.encode()).hexdigest()
        assert [member.local() for member in source.members] == [root / name for name in names]
    assert not workspace.exists()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".json", ".txt", ".parquet"])
def test_a_single_file_is_one_member(tmp_path, workspace, suffix):
    path = tmp_path / f"log.7{suffix}"
    path.write_bytes(gzip.compress(LOG) if suffix.endswith(".gz") else LOG)
    with open_source(path, workspace) as source:
        assert (source.name, source.stem) == (path.name, "log.7")
        assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        (member,) = source.members
        assert (member.path, member.name, member.size) == (path.name, path.name, path.stat().st_size)
        assert member.head(10) == LOG[:10]
        assert (member.local() == path) == (suffix != ".csv.gz")
        assert member.local().read_bytes() == LOG


def test_gz_is_told_by_content_and_its_streams_are_joined(tmp_path, workspace):
    twice = gzip.compress(LOG) + gzip.compress(b"") + gzip.compress(b"end\n")
    path = zipped(tmp_path / "eval.zip", {"log.csv": twice, "plain.gz": LOG})
    with open_source(path, workspace) as source:
        log, plain = source.members
        assert (log.size, log.head(7)) == (len(twice), LOG[:7])
        assert log.local().read_bytes() == LOG + b"end\n"
        assert plain.local().read_bytes() == LOG


def test_heads_are_read_once(tmp_path, workspace):
    path = tmp_path / "log.csv"
    path.write_bytes(LOG)
    with open_source(path, workspace) as source:
        head = source.members[0].head()
        path.unlink()
        assert source.members[0].head() is head


@pytest.mark.parametrize("before", [b"", b"#!/bin/sh\n"])
def test_a_zip_is_told_by_content(tmp_path, workspace, before):
    path = zipped(tmp_path / "upload.bin", {"log.csv": LOG})
    path.write_bytes(before + path.read_bytes())
    with open_source(path, workspace) as source:
        assert source.members[0].local().read_bytes() == LOG


@pytest.mark.parametrize(
    ("flag", "stored", "name"), [(0x800, b"t\xc3\xa9st.csv", "tést.csv"), (0, b"t\xc3\xa9st.csv", "t├⌐st.csv")]
)
def test_names_are_utf8_or_cp437(tmp_path, workspace, flag, stored, name):
    path = patched(zipped(tmp_path / "eval.zip", {"t__st.csv": LOG}), b"t__st.csv", stored)
    with open_source(with_header(path, 6, flag), workspace) as source:
        assert source.members[0].path == name
        assert source.members[0].local().read_bytes() == LOG


def test_a_workspace_is_shared_by_sources(tmp_path, workspace):
    path = zipped(tmp_path / "eval.zip", {"log.csv": LOG})
    with open_source(path, workspace) as one, open_source(path, workspace) as two:
        assert one.members[0].local() != two.members[0].local()


# --- what is no evaluation


def test_missing_and_special_inputs(tmp_path, workspace, monkeypatch):
    assert "does not exist" in refusal(tmp_path / "no.zip", workspace)
    (tmp_path / "file.csv").write_bytes(b"")
    assert refusal(tmp_path / "file.csv", workspace).startswith("file.csv: is empty; found 0 bytes")
    assert "does not exist" in refusal(tmp_path / "file.csv" / "x.zip", workspace)
    os.mkfifo(tmp_path / "pipe.csv")
    assert refusal(tmp_path / "pipe.csv", workspace).startswith("pipe.csv: is neither a file nor a folder")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert "neither a file nor a folder; found srw" in refusal(Path("socket"), workspace)
    assert "neither a file nor a folder; found crw" in refusal(Path("/dev/null"), workspace)


def test_an_evaluation_without_files(tmp_path, workspace):
    (tmp_path / "eval" / "empty" / ".git").mkdir(parents=True)
    assert refusal(tmp_path / "eval", workspace) == "eval: holds no files"
    assert "holds no files" in refusal(zipped(tmp_path / "eval.zip", {}), workspace)
    assert "holds no files" in refusal(zipped(tmp_path / "eval.zip", dict.fromkeys(JUNK, b"x")), workspace)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs users")
def test_unreadable_inputs(tmp_path, workspace):
    folder = tmp_path / "eval"
    (folder / "closed").mkdir(parents=True)
    (folder / "closed" / "log.csv").write_bytes(LOG)
    file = tmp_path / "log.csv"
    file.write_bytes(LOG)
    tops = [part for part in tmp_path.parents if part.stat().st_uid == os.geteuid() and part != Path("/")]
    modes = {part: stat.S_IMODE(part.stat().st_mode) for part in (tmp_path, *tops)}
    root = os.geteuid() == 0  # who may read everything
    for part, mode in modes.items():
        part.chmod(mode | 0o055)
    (folder / "closed").chmod(0)
    file.chmod(0)
    try:
        if root:
            os.seteuid(65534)
        assert refusal(file, workspace) == "log.csv: cannot be read; found Permission denied"
        assert refusal(folder, workspace) == "eval/closed: cannot be read; found Permission denied"
    finally:
        if root:
            os.seteuid(0)
        for part, mode in ({folder / "closed": 0o700} | modes).items():
            part.chmod(mode)


def test_a_zip_in_name_only(tmp_path, workspace):
    path = tmp_path / "eval.zip"
    path.write_bytes(LOG)
    assert refusal(path, workspace).startswith("eval.zip: is not a zip archive; found b'requ'")


@pytest.mark.parametrize("member", ["a/eval.ZIP", "a/log.csv"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_nested_zips(tmp_path, workspace, member, pack):
    data = pack(zipped(tmp_path / "inner", {"log.csv": LOG}).read_bytes())
    path = zipped(tmp_path / "eval.zip", {member: data})
    assert refusal(path, workspace) == f"{member}: is a zip inside of the evaluation; unpack it first"
    (tmp_path / "eval" / "a").mkdir(parents=True)
    (tmp_path / "eval" / member).write_bytes(data)
    assert refusal(tmp_path / "eval", workspace).startswith(f"{member}: is a zip inside")


# --- unsafe names and entries


UNSAFE = ["../a.csv", "a/../../b.csv", "..", "/etc/a.csv", "//host/a.csv", "C:/a.csv", "c:a.csv", "a\\b.csv"]
UNSAFE += ["..\\a.csv", "\\\\host\\a.csv", "a\nb.csv", "a\x1b[2Jb.csv", "__MACOSX/../../a.csv", "."]


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names_in_a_zip(tmp_path, workspace, name):
    path = zipped(tmp_path / "eval.zip", {"a.csv": LOG, name: LOG})
    message = refusal(path, workspace)
    assert message.startswith("eval.zip: holds a file with an unsafe name; found ")
    assert name.split("\n")[0].split("\x1b")[0] in message
    assert message.isprintable()


def test_a_nul_in_a_name(tmp_path, workspace):
    path = patched(zipped(tmp_path / "eval.zip", {"log.csv~exe": LOG}), b"csv~exe", b"csv\0exe")
    assert "unsafe name; found log.csv\\x00exe" in refusal(path, workspace)


def test_names_in_a_folder(tmp_path, workspace):
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "a\\b.csv").write_bytes(LOG)
    with open_source(tmp_path / "eval", workspace) as source:
        assert source.members[0].path == "a\\b.csv"
    Path(os.fsdecode(bytes(tmp_path / "eval") + b"/\xff.csv")).write_bytes(LOG)
    assert "is an unsafe name; found \\udcff.csv" in refusal(tmp_path / "eval", workspace)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK, stat.S_IFDIR])
def test_irregular_entries(tmp_path, workspace, kind):
    info = zipfile.ZipInfo("run/log.csv")
    info.external_attr = (kind | 0o644) << 16
    path = zipped(tmp_path / "eval.zip", {info: b"/etc/passwd"})
    assert refusal(path, workspace).startswith("run/log.csv: is not a regular file; found " + stat.filemode(kind)[0])


@pytest.mark.parametrize("second", ["log.csv", "./log.csv"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_names(tmp_path, workspace, second):
    with zipfile.ZipFile(tmp_path / "eval.zip", "w") as archive:
        archive.writestr("log.csv", LOG)
        archive.writestr(second, b"other")
    assert refusal(tmp_path / "eval.zip", workspace) == "log.csv: stands in the archive twice"


def test_links_in_a_folder(tmp_path, workspace):
    root = tmp_path / "eval"
    (root / "run").mkdir(parents=True)
    (root / "run" / "log.csv").write_bytes(LOG)
    (root / "run" / "up").symlink_to("..")
    (root / "run" / "here").symlink_to(".")
    (root / "latest").symlink_to("run")
    (root / "last.csv").symlink_to("run/log.csv")
    with open_source(root, workspace) as source:
        assert [member.path for member in source.members] == ["last.csv", "run/log.csv"]
    with open_source(root / "last.csv", workspace) as source:  # the input itself may be a link
        assert source.members[0].local().read_bytes() == LOG
    (tmp_path / "eval-secret.csv").write_bytes(LOG)
    link = root / "link.csv"
    for target in ("../eval-secret.csv", "/etc", "..", "/dev/null"):
        link.symlink_to(target)
        assert refusal(root, workspace) == "link.csv: is a link that leads out of the folder"
        link.unlink()
    for target, found in (
        ("link.csv", "Too many levels of symbolic links"),
        ("no", "No such file or directory"),
    ):
        link.symlink_to(target)
        assert refusal(root, workspace) == f"link.csv: cannot be read; found {found}"
        link.unlink()
    os.mkfifo(link)
    assert refusal(root, workspace).startswith("link.csv: is neither a file nor a folder; found p")


# --- damage


@pytest.mark.parametrize("flags", [0x1, 0x41, 0x2000])
def test_encrypted_members(tmp_path, workspace, flags):
    path = with_header(zipped(tmp_path / "eval.zip", {"log.csv": LOG}), 6, flags)
    assert refusal(path, workspace) == "log.csv: is encrypted; expected an archive without a password"


@pytest.mark.parametrize(("method", "name"), [(9, "deflate64"), (12, "bzip2"), (14, "lzma"), (99, "unknown")])
def test_unsupported_methods(tmp_path, workspace, method, name):
    path = with_header(zipped(tmp_path / "eval.zip", {"log.csv": LOG}), 8, method)
    assert refusal(path, workspace) == (
        f"log.csv: is packed by an unsupported method; found {name} ({method}); expected deflate"
    )


@pytest.mark.parametrize("kept", [0.2, 0.7, 0.99])
def test_truncated_archives(tmp_path, workspace, kept):
    path = zipped(tmp_path / "eval.zip", {f"{i}.csv": random.Random(i).randbytes(5000) for i in range(9)})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    assert refusal(path, workspace).startswith("eval.zip: is damaged or cut off; found ")


def test_a_hole_in_an_archive(tmp_path, workspace):
    path = zipped(tmp_path / "eval.zip", {"log.csv": random.Random(1).randbytes(5000)})
    data = path.read_bytes()
    path.write_bytes(data[:1000] + data[2000:])
    assert "is damaged or cut off" in refusal(path, workspace)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_flipped_byte(tmp_path, workspace, method):
    path = zipped(tmp_path / "eval.zip", {"log.csv": random.Random(1).randbytes(3 << 20)}, method)
    data = bytearray(path.read_bytes())
    data[2_500_000] ^= 1
    path.write_bytes(data)
    message = refusal(path, workspace)
    assert message.startswith("log.csv: is damaged or cut off; found ")
    assert method == zipfile.ZIP_DEFLATED or "Bad CRC-32" in message


def test_bad_compressed_data(tmp_path, workspace):
    path = zipped(tmp_path / "eval.zip", {"log.csv": LOG})
    data = bytearray(path.read_bytes())
    data[37:50] = b"\xff" * 13
    path.write_bytes(data)
    assert refusal(path, workspace).startswith("log.csv: is damaged or cut off; found Error -3")


@pytest.mark.parametrize("damage", [b"tail", b"\x1f", b"\x1f\x8bxx", -1, -9, "flip"])
@pytest.mark.parametrize("in_zip", [False, True])
def test_damaged_gz(tmp_path, workspace, damage, in_zip):
    data = gzip.compress(random.Random(1).randbytes(200_000))
    if isinstance(damage, int):
        data = data[:damage]
    elif damage == "flip":
        data = data[:150_000] + bytes([data[150_000] ^ 1]) + data[150_001:]
    else:
        data += damage
    path = tmp_path / "log.csv.gz"
    path.write_bytes(data)
    if in_zip:
        path = zipped(tmp_path / "eval.zip", {"log.csv.gz": data})
    assert refusal(path, workspace).startswith("log.csv.gz: is damaged or cut off; found ")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ("0", "4 bytes or more"),
        ("100", "14,025 bytes or more"),
        ("14,024", "14,025 bytes or more"),
        ("14,026", "14,025 bytes"),
        ("1,000,000,000", "14,025 bytes"),
    ],
)
def test_lying_headers(tmp_path, workspace, declared, found, method):
    path = zipped(tmp_path / "eval.zip", {"log.csv": LOG}, method)
    message = refusal(declaring(path, int(declared.replace(",", ""))), workspace, Limits(max_ratio=10**9))
    assert message == f"log.csv: lies about its size; found {found}; expected {declared} bytes, as declared"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_does_more_than_be_refused(tmp_path, data):
    members = {"a/log.csv": LOG, "b.csv.gz": gzip.compress(LOG, mtime=0), "c.json": b"{}"}
    content = bytearray(zipped(tmp_path / "eval.zip", members).read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    start, end = data.draw(st.sampled_from([(0, len(content)), (0, 900), (1, len(content)), (300, len(content))]))
    (tmp_path / "eval.zip").write_bytes(content[start:end])
    try:
        with open_source(tmp_path / "eval.zip", tmp_path / "workspace") as source:
            contents = {member.local().read_bytes() for member in source.members}
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert contents <= {LOG, b"{}"}


# --- limits


def test_declared_bytes_are_refused_at_once(tmp_path, workspace):
    path = zipped(tmp_path / "eval.zip", {"a.csv": LOG, "b.csv": LOG})
    most = Limits(max_bytes=2 * len(LOG))
    with open_source(path, workspace, most):
        pass
    with pytest.raises(InputError, match=r"eval.zip: is too large unpacked; found 28,050 bytes; expected at most"):
        open_source(path, workspace, Limits(max_bytes=2 * len(LOG) - 1))
    (tmp_path / "log.csv").write_bytes(LOG)
    assert "too large" in refusal(tmp_path / "log.csv", workspace, Limits(max_bytes=len(LOG) - 1))


@pytest.mark.parametrize("folder", [False, True])
def test_unpacked_gz_bytes_are_counted_together(tmp_path, workspace, folder):
    members = {name: gzip.compress(LOG) for name in ("a.gz", "b.gz")}
    path = tmp_path / "eval"
    if folder:
        path.mkdir()
        for name, data in members.items():
            (path / name).write_bytes(data)
    else:
        zipped(path, members)
    limits = Limits(max_bytes=2 * len(LOG) - 1)
    assert refusal(path, workspace, limits).startswith("eval: is too large unpacked; found 28,050 bytes")
    assert len(list(workspace.iterdir())) == 1  # the first one had passed


def repetitive(rare, size=70 * 10**6):
    """Return a log of ``size`` bytes with 40 random ones in every ``rare``: about rare/70 : 1 compressed."""
    block = (b"request-0001,5,3\n" * (rare // 17))[: rare - 40]
    noise = random.Random(1)
    return b"".join(noise.randbytes(40) + block for _ in range(size // rare))


def test_ratio_of_a_real_log_and_of_a_bomb(tmp_path, workspace):
    log = repetitive(45_000)
    path = zipped(tmp_path / "eval.zip", {"log.csv": log})
    assert 250 < len(log) / path.stat().st_size < 500
    with open_source(path, workspace) as source:
        assert source.members[0].local().stat().st_size == len(log)
        source.members[0].local().unlink()
    bomb = zipped(tmp_path / "bomb.zip", {"log.csv": b"17,5,3\n" * 10**7})
    assert refusal(bomb, workspace).startswith("log.csv: unpacks to suspiciously much; found 70,000,000 bytes from ")
    small = zipped(tmp_path / "small.zip", {"log.csv": b"17,5,3\n" * 9 * 10**6})  # under the floor
    with open_source(small, workspace) as source:
        assert source.members[0].local().stat().st_size == 63 * 10**6


def test_ratio_in_all(tmp_path, workspace):
    bomb = zipped(tmp_path / "bomb.zip", dict.fromkeys("abc", b"17,5,3\n" * 200_000))
    limits = Limits(ratio_floor=3 * 10**6)
    assert refusal(bomb, workspace, limits).startswith("bomb.zip: unpacks to suspiciously much; found 4,200,000")


@pytest.mark.parametrize("in_zip", [False, True])
def test_gz_bombs(tmp_path, workspace, in_zip):
    data = gzip.compress(bytes(70 * 10**6))
    path = tmp_path / "log.csv.gz"
    path.write_bytes(data)
    if in_zip:
        path = zipped(tmp_path / "eval.zip", {"log.csv.gz": data})
    message = refusal(path, workspace)
    assert message.startswith("log.csv.gz: unpacks to suspiciously much; found 6")
    assert "expected at most 500 to 1 (SPECDASH_MAX_RATIO)" in message


def test_the_disk_is_not_filled(tmp_path, workspace):
    path = zipped(tmp_path / "eval.zip", {"log.csv": LOG})
    usage = Usage(200 * 10**6 + len(LOG) - 1)
    message = "log.csv: finds no room on the disk; found 200,014,024 bytes free; expected 200,014,025 bytes or more"
    assert refusal(path, workspace, disk_usage=lambda _: usage) == message
    packed = zipped(tmp_path / "packed.zip", {"log.csv": gzip.compress(LOG)})
    assert refusal(packed, workspace, disk_usage=lambda _: usage) == message
    with open_source(path, workspace, disk_usage=lambda _: Usage(usage.free + 1)) as source:
        assert source.members[0].local().read_bytes() == LOG


def test_a_write_that_fails(tmp_path, workspace):
    path = zipped(tmp_path / "eval.zip", {"log.csv": LOG})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        message = refusal(path, workspace)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert message == "log.csv: cannot be written to the workspace; found File too large"


def test_too_many_files(tmp_path, workspace, monkeypatch):
    assert entries.MAX_MEMBERS == 100_000
    monkeypatch.setattr(entries, "MAX_MEMBERS", 3)
    for count in (3, 4):
        zipped(tmp_path / "eval.zip", {f"eval{count}/{i}.csv": b"x" for i in range(count)})
        zipfile.ZipFile(tmp_path / "eval.zip").extractall(tmp_path)
    with open_source(tmp_path / "eval3", workspace) as source:
        assert len(source.members) == 3
    assert refusal(tmp_path / "eval4", workspace) == "eval4: holds too many files; found 4; expected at most 3"
    assert "eval.zip: holds too many files; found 4" in refusal(tmp_path / "eval.zip", workspace)
    monkeypatch.setattr(entries, "MAX_DIRECTORY", 100)
    assert "a directory of" in refusal(tmp_path / "eval.zip", workspace)


def test_limits_from_the_environment():
    assert Limits.from_env({}) == Limits(20 * 10**9, 500.0, 64 * 10**6)
    env = {"SPECDASH_MAX_BYTES": "1000", "SPECDASH_MAX_RATIO": "12.5", "OTHER": "x"}
    assert Limits.from_env(env) == Limits(1000, 12.5)


@pytest.mark.parametrize("value", ["", "many", "0", "-1", "nan", "inf"])
@pytest.mark.parametrize("variable", ["SPECDASH_MAX_BYTES", "SPECDASH_MAX_RATIO"])
def test_bad_limits(variable, value):
    with pytest.raises(InputError, match=f"{variable}: is not a usable limit; found '{value}'; expected .* above 0"):
        Limits.from_env({variable: value})


# --- progress


@pytest.mark.parametrize("kind", ["zip", "gz", "folder"])
def test_progress(tmp_path, workspace, kind):
    data = random.Random(1).randbytes(3_500_000)
    path = tmp_path / "eval"
    if kind == "zip":
        zipped(path, {"a.csv": data, "b.csv": data}, zipfile.ZIP_STORED)
    elif kind == "gz":
        path.write_bytes(gzip.compress(data, 1))
    else:
        path.mkdir()
        (path / "a.csv").write_bytes(data)
        (path / "b.csv").write_bytes(data)
    calls = []
    with open_source(path, workspace, progress=lambda *call: calls.append(call)) as source:
        for member in source.members:
            member.local()
    stored = sum(file.stat().st_size for file in (path.iterdir() if kind == "folder" else [path]))
    for stage, total in (("hash", stored), ("extract", 7_000_000 if kind == "zip" else None)):
        done = [call[1] for call in calls if call[0] == stage]
        assert done == sorted(set(done))
        assert len(done) >= (0 if (stage, kind) == ("extract", "folder") else 3)
        assert total is None or done[-1] == total
        assert {call[2] for call in calls if call[0] == stage} <= {total}


@pytest.mark.parametrize("stage", ["hash", "extract"])
@pytest.mark.parametrize("error", [ValueError("stop"), OSError("stop"), KeyboardInterrupt()])
def test_what_progress_raises_comes_out(tmp_path, workspace, stage, error):
    data = random.Random(1).randbytes(3_500_000)
    path = zipped(tmp_path / "eval.zip", {"a.csv": data, "b.csv.gz": gzip.compress(data, 1)}, zipfile.ZIP_STORED)

    def stop(at, done, total):
        if at == stage and done > 2 << 20:
            raise error

    before = open_files()
    with (
        pytest.raises(type(error)) as caught,
        open_source(path, workspace, progress=stop) as source,
    ):
        for member in reversed(source.members):
            member.local()
    assert caught.value is error
    assert open_files() == before
    assert list(workspace.glob("*")) == []
