"""How the command line ends when something is wrong."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT, SMALL, Command, Ended


def refused(ended: Ended, *parts: str, status: int = 2) -> None:
    """One line on standard error that says all of `parts`, and nothing else."""
    assert ended.returncode == status, ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    for part in parts:
        assert part in ended.stderr


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("count = 4", "cuont = 4", ("bad.toml:5:1", '"count"')),
        ('"1 Gbit/s"', '"1 furlong"', ("bad.toml:13:13", "network.bandwidth", '"1 Gbit/s"')),
        ('[layout]\nunit = "256 KiB"\nfirst = "random"', "", ("bad.toml", "[layout]", "unit")),
        ("count = 4", "count = -4", ("bad.toml:5:9", "clients.count = -4")),
        ('unit = "256 KiB"', 'unit = "256 KiB"\nunit = "64 KiB"', ("bad.toml:18:1", "unit")),
        ("[clients]", "[clients", ("bad.toml:4:",)),
        ('"0.2 ms"', '"100000 d"', ("bad.toml:14:11", "network.latency", "213 d")),
        ("count = 4", "count = 3000000", ("bad.toml:5:9", "clients.count", "2000000")),
        ('"1 MiB"', '"64 PiB"', ("bad.toml", "servers.device", "213 days")),
        ('kind = "ior"', 'kind = "trace"\nfile = "none.csv"', ("bad.toml:",)),
    ],
)
def test_a_wrong_scenario(
    old: str, new: str, parts: tuple[str, ...], headrace: Command, tmp_path: Path
) -> None:
    path = tmp_path / "bad.toml"
    assert old in SMALL
    path.write_text(SMALL.replace(old, new))
    for command in (["run"], ["run", "--json"], ["explain"], ["net", "-o", tmp_path / "n.svg"]):
        refused(headrace(*command, path), *parts)
    assert not (tmp_path / "n.svg").exists()


def test_a_wrong_set(headrace: Command, small: Path) -> None:
    refused(headrace("run", small, "--set", "clients.cuont=4"), "--set clients.cuont=4", "count")
    refused(headrace("run", small, "--set", "clients.count"), "path=value")
    refused(headrace("run", small, "--set", "network.latency=3"), "network.latency=3", '"3 ms"')


def test_what_only_a_run_can_tell_names_the_field(headrace: Command, small: Path) -> None:
    ended = headrace("run", small, "--set", "network.latency=200 d")
    refused(ended, "213 days", "look at network.latency", status=1)


def test_files_that_are_no_scenario(headrace: Command, tmp_path: Path) -> None:
    refused(headrace("run", tmp_path / "none.toml"), "none.toml", "No such file")
    refused(headrace("run", tmp_path), str(tmp_path), "Is a directory")
    cases = {
        "binary": bytes(range(256)),
        "nul": b"\0" * 100,
        "result.json": b'{"scenario": 1}',
        "cut.json": b'{"scenario": {"toml": "na',
        "deep.json": b"{" + b'"a":[' * 100_000,
        "empty": b"",
    }
    for name, content in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        refused(headrace("run", path), f"{path}")


def replay(trace: str) -> str:
    """A scenario that replays a trace."""
    system = SMALL[: SMALL.index("[[workload]]")]
    return f'{system}[[workload]]\nkind = "trace"\nfile = "{trace}"\n'


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("none.csv", None, "No such file"),
        ("none.parquet", None, "No such file"),
        ("empty.csv", b"", "is empty"),
        ("empty.parquet", b"", "is empty"),
        ("binary.bin", bytes(range(256)) * 99, "is in no known trace format"),
        ("cut.parquet", b"PAR1 and no more", "cut.parquet"),
        ("cut.csv", b"time,process,operation,file,offset,size,duration\n1,p,re\n", "cut.csv:2"),
        ("header.csv", b"time,process,operation,file,offset,size,duration\n", "nothing"),
    ],
)
def test_traces_that_cannot_be_replayed(
    name: str, content: bytes | None, part: str, headrace: Command, tmp_path: Path
) -> None:
    scenario, trace = tmp_path / "replay.toml", tmp_path / name
    scenario.write_text(replay(name))
    if content is not None:
        trace.write_bytes(content)
    refused(headrace("run", scenario), str(trace), part)
    refused(headrace("net", scenario, "-o", tmp_path / "n.svg"), str(trace), part)
    if part != "nothing":
        refused(headrace("trace", "info", trace), str(trace))
        refused(headrace("trace", "import", trace, tmp_path / "out.csv"), str(trace))
    assert not (tmp_path / "out.csv").exists()
    assert not list((tmp_path / "temporary").iterdir())


def test_wrong_usage(headrace: Command, small: Path) -> None:
    refused(headrace("run"), "headrace run", "FILE")
    refused(headrace("run", small, "--jsno"), "--jsno", "--json")
    refused(headrace("rnu", small), "rnu", "run")
    refused(headrace("net", small), "--output")
    for suffix in (".gif", ".pnml", ".cpn", ".xdot", ".JPG"):
        refused(headrace("net", small, "-o", f"n{suffix}"), f"n{suffix}", ".svg")
    refused(headrace("trace", "synth", "t.csv", "--processes", "many"), "--processes")
    refused(headrace("trace", "synth", "t.csv", "--block", "1 furlong"), "--block", "64 KiB")
    refused(headrace("trace", "synth", "t.csv", "--block", "5"), "--block", "unit")
    refused(headrace("papers", "nobody"), "nobody", "pfssim")


@pytest.mark.parametrize(
    "group", ["bench net", "design", "lab", "profile", "results", "serve user", "trace"]
)
def test_a_group_without_a_command_shows_its_help(group: str, headrace: Command) -> None:
    ended = headrace(*group.split())
    assert (ended.returncode, ended.stdout) == (2, "")
    lines = ended.stderr.splitlines()
    assert lines[0].startswith(f"Usage: headrace {group} [OPTIONS]")
    assert "Commands:" in lines and max(map(len, lines)) <= 80


@pytest.mark.parametrize("option", ["-o", "--requests", "--plot"])
def test_output_that_cannot_be_written_is_told_before_the_run(
    option: str, headrace: Command, small: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    there.write_text("kept")
    path = there / "out" if option == "--plot" else tmp_path / "none" / "out"
    # A run of hours: it must not begin.
    long = ["--set", "workload.0.files=100000000"]
    refused(headrace("run", small, *long, option, path), str(path.parent))
    if option == "--plot":
        refused(headrace("run", small, *long, option, there), "not a directory")
    else:
        refused(headrace("run", small, *long, option, tmp_path), "is a directory")
    assert there.read_text() == "kept"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_failure(small: Path) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "headrace", "run", str(small)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "no space left" in ended.stderr


def test_a_reader_that_goes_away_is_no_matter(small: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "headrace", "explain", str(small)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("number", "status", "says"),
    [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "ended by SIGTERM\n")],
)
def test_an_interrupted_run_ends_at_once_and_leaves_nothing(
    number: signal.Signals, status: int, says: str, tmp_path: Path, headrace: Command
) -> None:
    trace = tmp_path / "t.parquet"
    synthesis = ["--processes", "50", "--segments", "20", "--transfer", "4 KiB"]
    assert headrace("trace", "synth", trace, *synthesis).returncode == 0
    scenario = tmp_path / "replay.toml"
    # A replay, so that there is a temporary file, and a run without end.
    text = replay(trace.name) + SMALL[SMALL.index("[[workload]]") :]
    text += 'repeat = "forever"\n[run.stop]\ntime = "200 d"\n'
    scenario.write_text(text)
    temporary = tmp_path / "temporary"
    before = sorted(tmp_path.iterdir())
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "headrace", "run", str(scenario)),
            *("--plot", str(tmp_path / "plots"), "-o", str(tmp_path / "result.json")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    patience = time.monotonic() + 60
    while not any(temporary.glob("headrace-*/*.csv")) and time.monotonic() < patience:
        time.sleep(0.02)
    assert process.poll() is None
    process.send_signal(number)
    # Were the run to end by itself, it would be in years.
    output, errors = process.communicate(timeout=30)
    assert process.returncode == status
    assert (output, errors) == ("", says)
    assert sorted(tmp_path.iterdir()) == before
    assert not list(temporary.iterdir())


def test_an_interrupted_import_tells_nothing_else(tmp_path: Path, headrace: Command) -> None:
    trace = tmp_path / "t.parquet"
    synthesis = ["--processes", "50", "--segments", "500", "--transfer", "4 KiB"]
    assert headrace("trace", "synth", trace, *synthesis).returncode == 0
    before = sorted(tmp_path.iterdir())
    # Polars reads, and reads and writes.
    for name in ("o.csv", "o.parquet") * 2:
        process = subprocess.Popen(
            [sys.executable, "-m", "headrace", "trace", "import", str(trace), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        patience = time.monotonic() + 60
        while sorted(tmp_path.iterdir()) == before and time.monotonic() < patience:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        # Where the machine is busy, progress lines come too.
        lines = errors.splitlines()
        told = [it for it in lines if not it.startswith(("trace import: ", "trace convert: "))]
        assert (process.returncode, output, told) == (130, "", ["interrupted"])
        assert sorted(tmp_path.iterdir()) == before
