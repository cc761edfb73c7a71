"""What is written, and what must never be replaced."""

import io
import os
import stat
import threading
from pathlib import Path

import polars as pl
import pytest

from conftest import Command
from headrace.file_formats import FileFormat
from headrace.files import atomic_file, check_writable
from headrace.trace import synthesize


class Pipe:
    """A named pipe, and what is written into it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self.content = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        self.content = self.path.read_bytes()

    def ended(self) -> bytes:
        self._reader.join(10)
        assert not self._reader.is_alive()
        assert stat.S_ISFIFO(self.path.stat().st_mode)
        return self.content


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_trace_goes_into_a_pipe(format: str, headrace: Command, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    records = synthesize(source, processes=3).records
    pipe = Pipe(tmp_path / "pipe")
    ended = headrace("trace", "import", source, pipe.path, "--to-format", format)
    assert ended.returncode == 0, ended.stderr
    content = pipe.ended()
    if format == "parquet":
        assert pl.read_parquet(io.BytesIO(content)).height == records
    else:
        assert content == source.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "name", "expected"),
    [
        (["run", "SCENARIO", "--requests"], "x.csv", ".parquet"),
        (["run", "SCENARIO", "--requests"], "x.XLSX", ".parquet"),
        (["run", "SCENARIO", "--requests"], "x.txt", ".parquet"),
        (["run", "SCENARIO", "-o"], "x.csv", ".json"),
        (["run", "SCENARIO", "--plot"], "x.pdf", "a directory"),
        (["whatif", "SCENARIO", "--plot"], "x.png", "a directory"),
        (["validate", "SCENARIO", "--against", "SCENARIO", "--plot"], "x.svg", "a directory"),
        (["bench", "run", "SCENARIO", ".", "-o"], "x.parquet", ".json"),
        (["bench", "run", "SCENARIO", ".", "--csv"], "x.json", ".csv"),
        (["bench", "disk", ".", "-o"], "x.csv", ".json"),
        (["bench", "mix", ".", "-o"], "x.zip", ".json"),
        (["bench", ".", "-o"], "x.csv", ".json"),
        (["bench", "tune", ".", "--profiler", "fuse", "--mix"], "x.json", ".toml"),
        (["calibrate", ".", "-o"], "x.json", ".toml"),
        (["twin", ".", "-o"], "x.toml", ".json"),
        (["results", "plot", "last", "-o"], "x.png", "a directory"),
        (["trace", "synth", "--to-format", "csv"], "x.parquet", ".csv"),
        (["trace", "synth"], "x.csv.gz", ".csv"),
    ],
)
def test_names_that_end_in_another_format_are_refused(
    arguments: list[str],
    name: str,
    expected: str,
    headrace: Command,
    small: Path,
    tmp_path: Path,
) -> None:
    given = [{"SCENARIO": str(small), ".": str(tmp_path)}.get(it, it) for it in arguments]
    before = sorted(tmp_path.iterdir())
    ended = headrace(*given, tmp_path / name)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith(f"{tmp_path / name}: ") and ended.stderr.count("\n") == 1
    assert f"expected a name that ends in {expected}" in ended.stderr or (
        f"expected the name of {expected}" in ended.stderr
    )
    assert sorted(tmp_path.iterdir()) == before and ended.stdout == ""


def test_other_names_fit_every_format(tmp_path: Path) -> None:
    for name in ("x", "x.old", "run-1.5", "x.JSON", ".json", "x.txt", "/dev/null"):
        check_writable(tmp_path / name, FileFormat.JSON)


def test_what_a_run_writes_goes_into_pipes(headrace: Command, small: Path, tmp_path: Path) -> None:
    plots = tmp_path / "plots"
    plots.mkdir()
    pipes = {
        name: Pipe(tmp_path / name)
        for name in ("r.json", "r.parquet", "plots/latency.png", "plots/latency.svg")
    }
    ended = headrace(
        *("run", small, "-o", tmp_path / "r.json", "--requests", tmp_path / "r.parquet"),
        *("--plot", plots),
    )
    assert ended.returncode == 0, ended.stderr
    begins = {"r.json": b"{", "r.parquet": b"PAR1", "plots/latency.png": b"\x89PNG"}
    for name, pipe in pipes.items():
        assert pipe.ended().startswith(begins.get(name, b"<?xml"))
    picture = Pipe(tmp_path / "net.svg")
    assert headrace("net", small, "-o", picture.path).returncode == 0
    assert b"<svg" in picture.ended()


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("kept")
    with pytest.raises(OSError) as raised, atomic_file(path) as partial:
        (partial / "none").write_text("no")
    assert raised.value.filename.endswith("/none")
    with pytest.raises(KeyError), atomic_file(path) as partial:
        partial.write_text("half")
        raise KeyError
    assert path.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    for name in ("n" * 255, "n." + "e" * 253, "n" * 247 + ".parquet"):
        path = tmp_path / name
        check_writable(path)
        with atomic_file(path) as partial:
            partial.write_text("whole")
        assert path.read_text() == "whole"


def test_no_message_names_the_file_in_the_making(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    # A run of hours: it must not begin.
    long = ["--set", "workload.0.files=100000000"]
    for path in (Path("/proc/x.pq"), tmp_path / ("n" * 256)):
        for option in ("--requests", "-o", "--plot"):
            ended = headrace("run", small, *long, option, path)
            assert ended.returncode == 2
            assert ended.stderr.count("\n") == 1
            assert "partial" not in ended.stderr
            # A directory that cannot be made is told by the one it would be in.
            assert str(path.parent) in ended.stderr


def test_no_output_takes_the_place_of_an_input(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    trace, replay = tmp_path / "t.csv", tmp_path / "replay.toml"
    synthesize(trace)
    text = small.read_text()
    text = text[: text.index("[[workload]]")] + '[[workload]]\nkind = "trace"\nfile = "t.csv"\n'
    replay.write_text(text)
    link, hard = tmp_path / "link.json", tmp_path / "hard.json"
    link.symlink_to(small)
    os.link(small, hard)
    new = tmp_path / "new"
    # A run of hours: it must not begin.
    long = ["--set", "workload.0.files=100000000"]
    cases = [
        (small.read_bytes(), small, ["run", small, *long, "-o", small]),
        (small.read_bytes(), small, ["run", small, *long, "--requests", small]),
        (small.read_bytes(), small, ["run", small, *long, "-o", link]),
        (small.read_bytes(), small, ["run", small, *long, "-o", hard]),
        (small.read_bytes(), small, ["net", small, "-o", small]),
        (trace.read_bytes(), trace, ["run", replay, "-o", trace]),
        (trace.read_bytes(), trace, ["run", replay, "--requests", trace]),
        (trace.read_bytes(), trace, ["net", replay, "-o", trace]),
        (None, new, ["run", small, *long, "-o", new, "--requests", tmp_path / "." / "new"]),
    ]
    for content, path, arguments in cases:
        ended = headrace(*arguments)
        assert ended.returncode == 2, arguments
        assert ended.stderr.count("\n") == 1
        # A name that ends in another format's suffix is refused before.
        wanted = ("expected another file", "expected a name that ends in")
        assert any(it in ended.stderr for it in wanted), ended.stderr
        assert arguments[-1] not in (link, hard) or wanted[0] in ended.stderr
        assert (path.read_bytes() if path.exists() else None) == content
