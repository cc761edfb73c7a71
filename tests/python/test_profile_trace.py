"""Traces through Python: import, look into, synthesize, in every format."""

import gzip
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headrace.parquet import read_parquet
from headrace.trace import frame, import_trace, open_trace, synthesize, trace_info

TRACES = Path(__file__).parents[1] / "data" / "traces"
COLUMNS = ["time_ns", "process", "operation", "file", "offset", "size", "duration_ns"]
DETAILS = ["flags", "other"]


@pytest.fixture(params=["tar.strace", "build.strace"])
def source(request: pytest.FixtureRequest) -> Path:
    return TRACES / str(request.param)


def test_a_trace_is_the_same_in_every_format(source: Path, tmp_path: Path) -> None:
    direct = frame(open_trace(source))
    assert direct.columns == COLUMNS + DETAILS
    csv, parquet, again = (tmp_path / name for name in ("t.csv", "t.parquet", "again.csv"))
    assert import_trace(source, csv).records == direct.height
    assert import_trace(csv, parquet).records == direct.height
    assert import_trace(parquet, again).records == direct.height
    assert csv.read_bytes() == again.read_bytes()
    assert frame(open_trace(csv)).equals(direct)
    assert frame(open_trace(parquet)).equals(direct)
    assert pl.read_parquet(parquet).equals(direct)
    summary = trace_info(source).summary
    assert summary == trace_info(csv).summary == trace_info(parquet).summary


def test_the_summary_is_what_is_known_of_tar() -> None:
    information = trace_info(TRACES / "tar.strace")
    assert information.summary["bytes_written"] == 194_560
    assert information.summary["bytes_read"] == 152_770
    assert information.summary["busiest_files"][0]["file"] == "/out/sources.tar"
    assert next(it.count for it in information.skipped if it.name == "mmap") == 17


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_synthetic_trace_is_what_its_pattern_says(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    made = synthesize(
        path, processes=3, shared=False, block=400, transfer=100, segments=50, think_ns=5
    )
    table = frame(open_trace(path))
    assert made.records == table.height == 3 * 2 * (200 + 2)
    moved = table.filter(pl.col("operation").is_in(["read", "write"]))
    sums = moved.group_by("operation", "file").agg(pl.col("size").sum(), pl.col("offset").max())
    assert sums.height == 6
    assert set(sums["size"]) == {20_000}
    assert set(sums["offset"]) == {19_900}


def test_many_batches_pass_through_parquet(tmp_path: Path) -> None:
    csv, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    synthesize(csv, processes=100, shared=False, block=1 << 20, transfer=1 << 10, random=True)
    import_trace(csv, parquet)
    assert frame(open_trace(parquet)).equals(frame(open_trace(csv)))
    assert frame(open_trace(parquet)).height == 100 * 2 * 1026


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.csv", b"", "t.csv: is empty: expected"),
        ("t.csv", b"time,process\n", "t.csv:1: header time,process: expected exactly time,"),
        ("t.parquet", b"", "t.parquet: "),
        ("t.parquet", b"PAR1 and no more", "t.parquet: "),
        ("t.bin", bytes(range(256)) * 9, "t.bin: is in no known trace format"),
    ],
)
def test_bad_input_is_one_line_that_names_the_file(
    name: str, content: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for call in (lambda: trace_info(path), lambda: import_trace(path, tmp_path / "out.parquet")):
        with pytest.raises(ValueError) as raised:
            call()
        assert str(raised.value).startswith(f"{tmp_path}/{problem}")
        assert "\n" not in str(raised.value)
    assert not (tmp_path / "out.parquet").exists()


def test_other_tables_in_parquet_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    good: dict[str, list[Any]] = {name: [1] for name in COLUMNS} | {"process": ["p"], "file": ["f"]}
    cases: list[tuple[dict[str, list[Any]], str]] = [
        ({"a": [1]}, "no column time_ns: expected one of Int64"),
        (good, "column of Int64 operation: expected one of Enum"),
        (good | {"operation": ["reed"]}, "operations of open, create, close"),
        (good | {"operation": ["read"], "size": [None]}, "column of Null size"),
        (good | {"operation": ["read"], "file": [None]}, "column of Null file"),
        (good | {"operation": ["read"], "offset": [-1]}, ""),
    ]
    for columns, problem in cases:
        pl.DataFrame(columns).write_parquet(path)
        with pytest.raises(ValueError) as raised:
            trace_info(path)
        assert str(raised.value).startswith(f"{path}: ")
        assert problem in str(raised.value)
        assert "\n" not in str(raised.value)


def test_missing_files_and_senseless_patterns_are_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        trace_info(tmp_path / "none.csv")
    with pytest.raises(OSError, match="No such file"):
        trace_info(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="is a directory: expected a trace file"):
        trace_info(tmp_path)
    with pytest.raises(ValueError, match="block = 1048576: expected a multiple of transfer = 7"):
        synthesize(tmp_path / "t.csv", transfer=7)
    with pytest.raises(ValueError, match="processes = -1: expected a number from 0 to"):
        synthesize(tmp_path / "t.csv", processes=-1)
    with pytest.raises(ValueError, match="has an extension of no known trace format"):
        synthesize(tmp_path / "t.txt")
    path = tmp_path / "t.csv"
    synthesize(path)
    with pytest.raises(ValueError, match="is the source itself"):
        import_trace(path, path)
    assert trace_info(path).summary["records"] > 0


COMMAND = [sys.executable, "-m", "headrace", "trace"]
LINE = b'5 1.000000 read(3</f>, ""..., 4096) = 158 <0.000007>\n'


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, **more)


def test_compressed_traces_are_read(source: Path, tmp_path: Path) -> None:
    packed = tmp_path / f"{source.name}.gz"
    content = gzip.compress(source.read_bytes())
    packed.write_bytes(content)
    assert frame(open_trace(packed)).equals(frame(open_trace(source)))
    table = tmp_path / "t.csv"
    import_trace(source, table)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(table.read_bytes()))
    assert frame(open_trace(tmp_path / "t.csv.gz")).equals(frame(open_trace(source)))
    for damaged, problem in (
        (content[: len(content) // 2], "its gzip data is truncated"),
        (content[:500] + b"\xff" * 500 + content[1000:], "its gzip data"),
        (b"\x28\xb5\x2f\xfd and so on", "is compressed with zstd: expected gzip"),
    ):
        packed.write_bytes(damaged)
        ended = run("info", str(packed))
        assert (ended.returncode, ended.stdout) == (2, "")
        assert problem in ended.stderr
        assert len(ended.stderr.splitlines()) == 1


def test_standard_input_and_pipes_are_read(tmp_path: Path) -> None:
    source = TRACES / "tar.strace"
    expected = run("info", "--json", str(source)).stdout
    with source.open("rb") as opened:
        assert run("info", "--json", "-", stdin=opened).stdout == expected
    assert run("info", "--json", "-", input=source.read_text()).stdout == expected
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(source.read_bytes(),))
    writer.start()
    try:
        assert run("info", "--json", str(pipe)).stdout == expected
    finally:
        writer.join()


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that waits for a pipe into which nobody writes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [*COMMAND, "info", str(pipe)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        descriptors = Path(f"/proc/{process.pid}/fd")
        while process.poll() is None:
            if str(pipe) in _links(descriptors):
                break
            time.sleep(0.02)
        yield process
        process.kill()


def _links(directory: Path) -> list[str]:
    try:
        return [os.readlink(it) for it in directory.iterdir()]
    except OSError:  # The process has closed one, or ended.
        return []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_pipe_without_a_writer_can_be_interrupted(
    waiting: subprocess.Popen[str], number: int, status: int
) -> None:
    waiting.send_signal(number)
    assert waiting.stderr is not None
    said = waiting.stderr.read()
    assert waiting.wait() in (status, -number)
    assert "Traceback" not in said


def test_a_trace_without_times_or_records_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.strace"
    path.write_bytes(LINE.replace(b" 1.000000", b"") * 2)
    assert trace_info(path).summary["span_seconds"] is None
    assert "without times" in run("info", str(path)).stdout
    path.write_bytes(LINE.replace(b"\n", b"\r") * 2)
    assert trace_info(path).summary["records"] == 2
    path.write_bytes(b"5 1.0 getpid() = 5 <0.1>\n")
    ended = run("info", str(path))
    assert ended.returncode == 0
    assert "no records: the trace shows no operation on a file" in ended.stderr
    path.write_bytes(b"5 1.0 <... read resumed>) = 5 <0.1>\n")
    assert run("info", str(path)).returncode == 2


@pytest.fixture(scope="module")
def footer(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[tuple[int, int]]]:
    """A Parquet file, and every bit of its footer."""
    path = tmp_path_factory.mktemp("parquet") / "t.parquet"
    synthesize(path, processes=2)
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    first = len(content) - 8 - length
    return content, [(at, bit) for at in range(first, len(content)) for bit in range(8)]


def _damaged(content: bytes, at: int, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[at] ^= 1 << bit
    return bytes(damaged)


def test_damaged_parquet_is_one_error(
    footer: tuple[bytes, list[tuple[int, int]]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    content, bits = footer
    path = tmp_path / "t.parquet"
    panics = 0
    for at, bit in bits[::3]:
        try:
            read_parquet(_damaged(content, at, bit))
        except ValueError as error:
            assert str(error).endswith(": expected a Parquet file")
            panics += "is damaged" in str(error)
    assert panics > 20
    for at, bit in bits[::17]:
        path.write_bytes(_damaged(content, at, bit))
        try:
            trace_info(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")
            assert "\n" not in str(error)
    assert "panicked" not in capfd.readouterr().err
