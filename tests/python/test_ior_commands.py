"""Command lines of IOR, mdtest and dd, and configuration files of IO500."""

import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import headrace as hr
from command import command
from conftest import ROOT
from headrace._core import Loaded, parse_bytes
from headrace.cli.bench.io500 import scenario
from headrace.command_lines import command_of, table
from headrace.command_lines.io500_file import read_config
from mpi import HEADRACE, started

DATA = tomllib.loads((ROOT / "tests/data/command_lines.toml").read_text(encoding="utf-8"))
LINES = DATA["line"]
RECORDED = DATA["recorded"]
CLUSTER = (ROOT / "scenarios/io500.toml").read_text(encoding="utf-8").partition("[[workload]]")[0]
SCRIPT = """
    ignored
IOR START
  # the first test
  api=POSIX, transferSize=64k
  blockSize=128k
  writeFile=1
  readFile=1
RUN
  filePerProc=1
  fsync=1
  segmentCount=2
RUN
IOR STOP
"""
"""The script of the recorded calls."""
QUIET = ("--no-store", "--no-progress")


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    """The file of a system."""
    file = tmp_path / "cluster.toml"
    file.write_text(CLUSTER, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("program", ["ior", "mdtest"])
def test_every_option_of_the_help_is_in_the_table(program: str) -> None:
    known = dict(table(program).words())
    words = [word.replace(":", " ") for word in DATA["options"][program].split()]
    assert len(words) > 50
    assert [word for word in words if word not in known] == []


@pytest.mark.parametrize("program", ["ior", "mdtest", "dd", "io500"])
def test_options_have_one_effect(program: str) -> None:
    for word, option in [*table(program).options.items(), *table(program).interfaces.items()]:
        effects = [option.no_effect, option.refused, option.measured or option.field or option.note]
        is_plain = word in table(program).interfaces
        assert sum(map(bool, effects)) == 1 or is_plain or option.sets, word
        assert option.meaning, word


def test_the_reference_follows_from_the_tables() -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "tools/command_line_tables.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["command"][:60])
def test_public_command_lines(line: dict[str, str], cluster: str) -> None:
    if "refused" in line:
        with pytest.raises(ValueError, match=line["refused"]):
            command_of(line["command"])
        return
    given = command_of(line["command"])
    assert given is not None
    Loaded.measured(given.measured(1, given.tasks or 1, 1), "workload.toml", [])
    loaded = hr.load(line["command"], {"system": cluster})
    clients = tomllib.loads(loaded.toml)["clients"]
    assert clients["count"] * clients["processes"] == (given.tasks or 1)


def sequences(recorded: dict[str, Any]) -> list[list[tuple[str, int, int, int]]]:
    """The recorded reads and writes of each process: operation, file, offset and bytes."""
    every = []
    for row in recorded["data"]:
        calls = []
        for run in row.split("; "):
            call, _, offsets = run.partition(":")
            operation, file, size = call.split()
            calls += [(operation, int(file), int(at), int(size)) for at in offsets.split()]
        every.append(calls)
    return every


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["command"])
def test_calls_are_those_of_the_program(
    recorded: dict[str, Any], cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("script.ior").write_text(SCRIPT, encoding="utf-8")
    line = recorded["command"].replace("script.ior", str(tmp_path / "script.ior"))
    given = command_of(line)
    assert given is not None
    number = recorded["processes"]
    # The programs ran on one host.
    text = given.measured(1, number, number)
    requests = hr.run(hr.load(text, {"system": cluster}), requests=True).requests
    assert requests is not None
    made: dict[tuple[int, int], list[tuple[str, int, int, int]]] = {}
    columns = ("workload", "process", "operation", "file", "offset_bytes", "size_bytes")
    for workload, process, operation, file, offset, size in requests.select(columns).iter_rows():
        if operation in ("read", "write"):
            made.setdefault((workload, process), []).append((operation, file, offset, size))
    expected = sequences(recorded)
    if {"-z", "-f", "-i"} & {*line.split()}:
        # In another order, in several workloads, or in runs of their own.
        calls = Counter(call for calls in made.values() for call in calls)
        if "-f" in line:
            # Each workload numbers its own files.
            assert Counter(call[:1] + call[2:] for call in calls.elements()) == Counter(
                call[:1] + call[2:] for each in expected for call in each
            )
            return
        assert calls == Counter(call for each in expected for call in each)
    else:
        assert sorted(made.values()) == expected


def bench(*words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    run = command("bench", *words)
    assert run.returncode == status, run.stderr
    return run


def counts(run: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """The operations of a result that a command printed."""
    operations = json.loads(run.stdout)["operations"]
    return {name: figures["count"] for name, figures in operations.items()}


def test_ior_on_a_real_file_system(tmp_path: Path) -> None:
    file = str(tmp_path / "testFile")
    words = ("-a", "posix", "-t", "64k", "-b=256k", "-FwrC", "-e", "-vvk", "-N2", "-o", file)
    run = bench("ior", *words, "--json", *QUIET)
    assert counts(run) == {"close": 6, "open": 6, "read": 8, "sync": 2, "write": 8}
    assert "note: ior no effect: -v, -k" in run.stderr
    assert list(tmp_path.iterdir()) == []
    document = json.loads(run.stdout)
    assert document["scenario"]["description"].startswith("ior -a posix -t 64k")
    # One host: each process reads what it wrote, as IOR does.
    assert tomllib.loads(document["scenario"]["toml"])["workload"][0]["rank_shift"] == 0


def test_the_directory_may_come_first(tmp_path: Path) -> None:
    run = bench("ior", str(tmp_path), "-w", "-t", "4k", "-b", "8k", "--json", *QUIET)
    assert counts(run) == {"close": 1, "open": 1, "write": 2}


def test_mdtest_makes_its_directory_below_one_that_exists(tmp_path: Path) -> None:
    words = ("-n", "6", "-w", "10", "-e", "10", "-i", "2", "-d", str(tmp_path / "out"))
    run = bench("mdtest", *words, "--json", *QUIET)
    both = dict.fromkeys(
        ("close", "create", "mkdir", "read", "rmdir", "stat", "unlink", "write"), 12
    )
    assert counts(run) == both
    run = bench("mdtest", "-n", "6", "-d", str(tmp_path), "--json", *QUIET)
    phases = json.loads(run.stdout)["phases"]
    assert {(one["workload"], one["operation"]) for one in phases} >= {(0, "rmdir"), (1, "stat")}
    starts = {(one["workload"], one["phase"]): one["from_s"] for one in phases}
    assert [starts[key] for key in sorted(starts)] == sorted(starts.values())


def test_dd_writes_below_the_directory_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    run = bench(
        "dd", "if=/dev/zero", f"of={file}", "bs=4k", "count=8", "conv=fsync", "--json", *QUIET
    )
    assert counts(run) == {"close": 2, "open": 2, "sync": 1, "write": 8}
    file.write_bytes(bytes(20_000))
    run = bench("dd", f"if={file}", "of=/dev/null", "bs=4k", "--json", *QUIET)
    assert counts(run) == {"close": 1, "open": 1, "read": 4}
    assert "the last 3616 bytes are left out" in run.stderr
    assert file.read_bytes() == bytes(20_000)


def test_dd_copies_from_file_to_file(tmp_path: Path) -> None:
    words = (f"if={tmp_path}/a", f"of={tmp_path}/b", "bs=4k", "count=8", "conv=fsync")
    assert counts(bench("dd", *words, "--json", *QUIET)) == {"read": 8, "sync": 1, "write": 8}


def test_ranks_are_processes(tmp_path: Path) -> None:
    words = ("-t", "64k", "-b", "128k", "-w", "-r", "-N", "2", "--json", *QUIET)
    line = started((2, (*HEADRACE, "bench", "ior", str(tmp_path), *words)))
    run = subprocess.run(line, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert counts(run) == {"close": 4, "open": 4, "read": 4, "write": 4}
    line = [word if word != "2" or at == 2 else "3" for at, word in enumerate(line)]
    run = subprocess.run(line, capture_output=True, text=True)
    assert run.returncode != 0
    assert "-N 3: expected 2, the processes of 2 ranks" in run.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ior", "-a", "HDF5", "-w"), "ior -a HDF5: it needs libhdf5"),
        (("ior", "-a", "S3", "-w"), "ior -a S3: it needs a library for S3"),
        (("ior", "-a", "XYZ"), "ior -a XYZ: expected one of POSIX, MPIIO"),
        (("ior", "-M", "80%", "-w"), "ior -M: memory is not occupied"),
        (("ior", "--mpiio.preallocate"), "ior --mpiio.preallocate: files are not allocated"),
        (("ior", "-w", "-L"), "ior -L: no such option"),
        (("ior", "-t", "3x"), 'ior -t "3x": expected a whole number'),
        (("ior", "-t", "300k"), "ior -t 307200: expected a size that divides"),
        (("ior", "-t"), "ior -t: expected a value"),
        (("ior", "-w", "there"), "ior there: expected an option; DIR comes first"),
        (("ior", "-w", "-z", "-D", "3"), "ior -D: with -z"),
        (("ior", "-O", "blockSize"), '-O "blockSize": expected NAME=VALUE'),
        (("ior", "-O", "minTimeDuration=3"), "-O minTimeDuration: files are not accessed again"),
        (("ior",), "bench ior: expected a command line of ior"),
        (("mdtest", "-c", "-n", "3"), "mdtest -c: each process creates its own files"),
        (("mdtest", "-F"), "mdtest: expected -n N or -I N"),
        (("mdtest", "-n", "3", "-z", "99999999"), "expected a smaller tree"),
        (("dd", "if=/dev/zero", "of=/dev/sdz", "count=1"), "dd of=/dev/sdz: devices are not"),
        (("dd", "if=/dev/zero", "of=x"), "dd: expected count=N"),
        (("dd", "if=/dev/zero", "of=x", "count=1", "conv=sparse"), "conv=sparse: all blocks"),
        (("dd", "if=x", "of=/dev/null", "bs=3q"), 'bs= "3q": expected a whole number'),
        (("ior", "-w", "--write-scenario", "-", "--set", "run.seed=2"), "--set: expected it with"),
        (("io500",), "bench io500: expected a directory, or --config"),
    ],
)
def test_refused_options_are_named(words: tuple[str, ...], message: str) -> None:
    run = bench(*words, status=2)
    assert message in run.stderr
    assert run.stdout == ""


def test_options_that_are_turned_off_have_no_effect() -> None:
    off = "-O dualMount=0,checkRead=0,useO_DIRECT=0,fsync=0,filePerProc=0,minTimeDuration=0"
    given = command_of(f"ior -F -e --posix.odirect -w {off}")
    assert given is not None
    assert given.workloads == command_of("ior -w").workloads  # type: ignore[union-attr]
    assert given.notes == []


def test_a_scenario_is_written_and_simulated(cluster: str, tmp_path: Path) -> None:
    line = ("-t", "1m", "-b", "4m", "-F", "-w", "-r", "-C")
    file = tmp_path / "ior.toml"
    bench("ior", *line, "--processes", "2", "--write-scenario", str(file))
    simulated = command("run", str(file), "--set", f"system={cluster}", "--json", "--no-store")
    assert simulated.returncode == 0, simulated.stderr
    assert counts(simulated)["read"] == 8
    text = "mpirun -n 2 ior " + " ".join(line)
    at_once = command("run", text, "--set", f"system={cluster}", "--json", "--no-store")
    assert counts(at_once) == counts(simulated)
    measured = command("bench", "run", str(file), str(tmp_path), "--json", *QUIET)
    assert counts(measured)["write"] == 8
    assert bench("ior", *line, "--write-scenario", "-").stdout.startswith('name = "ior"')


def test_collective_calls_and_stripes_are_simulated_only(cluster: str) -> None:
    line = "mpirun -n 4 ior -a MPIIO -c -t 64k -b 64k -s 2 -O lustreStripeCount=2 -w"
    given = command_of(line)
    assert given is not None
    simulated = tomllib.loads(hr.load(line, {"system": cluster}).toml)["workload"][0]
    assert simulated["collective"]["kind"] == "two-phase"
    assert simulated["layout"]["servers"] == 2
    measured = tomllib.loads(given.measured(1, 4, 4))["workload"][0]
    assert not {"collective", "layout"} & {*measured}


def test_a_shift_leads_to_the_next_host() -> None:
    given = command_of("ior -C -Q 2 -w -r")
    assert given is not None

    def shift(ranks: int, node_tasks: int) -> Any:
        return tomllib.loads(given.measured(ranks, 1, node_tasks))["workload"][0]["rank_shift"]

    # Ranks of a host follow each other, take turns, or are all.
    assert (shift(16, 4), shift(16, 1), shift(4, 4)) == (8, 2, 0)


def test_nodes_are_those_of_srun() -> None:
    for launcher, nodes in (("srun -N 8 -n 64", 8), ("mpirun -N 8 -n 64", 1), ("srun -n 64", 1)):
        given = command_of(f"{launcher} /opt/bin/IOR -w")
        assert given is not None
        assert (given.nodes, given.tasks) == (nodes, 64)
        clients = tomllib.loads(given.simulated())["clients"]
        assert clients == {"count": nodes, "processes": 64 // nodes}


@pytest.mark.parametrize(
    ("text", "size"), [("4k", 4096), ("2MB", 2_000_000), ("1MiB", 1 << 20), ("2x3b", 3072)]
)
def test_sizes_of_dd(text: str, size: int) -> None:
    given = command_of(f"dd if=/dev/zero of=x bs={text} count=1")
    assert given is not None
    assert parse_bytes(given.workloads[0]["transfer"]) == size


def test_a_missing_directory_of_ior_is_not_replaced(tmp_path: Path) -> None:
    bench("ior", "-w", "-o", str(tmp_path / "typo" / "file"), status=2)
    assert list(tmp_path.iterdir()) == []


def test_names_that_look_like_commands_are_files() -> None:
    assert command_of("my ior runs.toml") is None
    assert command_of("scenarios/ior.toml") is None
    run = command("run", "my ior runs.toml", "--no-store")
    assert "my ior runs.toml" in run.stderr


def test_a_script_has_a_workload_for_each_test(tmp_path: Path) -> None:
    script = tmp_path / "script.ior"
    script.write_text(SCRIPT, encoding="utf-8")
    given = command_of(f"ior -v -f {script}")
    assert given is not None
    first, second = given.workloads
    assert (first["access"], first["phases"], first["turns"]) == (
        "shared",
        ["write", "read"],
        [1, 2],
    )
    assert (second["access"], second["segments"]) == ("file-per-process", 2)
    assert (second["phases"], second["turns"]) == (["write", "sync", "read"], [3, 4, 5])
    script.write_text("IOR START\n\nblocksize=3\nnone=1\n", encoding="utf-8")
    run = bench("ior", "-f", str(script), status=2)
    assert f"{script}:4: none: no such option" in run.stderr
    script.write_text("blocksize=3\n", encoding="utf-8")
    assert "the line IOR START is missing" in bench("ior", "-f", str(script), status=2).stderr


CONFIG = """
; as config-full.ini
[global]
datadir = {0}/new/datafiles  # is made
timestamp-datadir = FALSE
drop-caches = FALSE
[debug]
stonewall-time = 7
[ior-easy]
API = POSIX --posix.odirect
transferSize = 1m
blockSize = 4m
verbosity =
[ior-hard]
segmentCount = 10
[ior-hard-read]
run = FALSE
[mdtest-easy]
n = 20
[mdtest-hard]
run = FALSE
[ior-rnd4K-easy-read]
run = TRUE
[find-hard]
nproc = 3
"""


def test_a_configuration_of_io500(tmp_path: Path) -> None:
    file = tmp_path / "io500.ini"
    file.write_text(CONFIG.format(tmp_path), encoding="utf-8")
    config = read_config(file)
    assert (config.place(), config.stonewall) == (tmp_path, 7)
    assert config.notes == ["no effect: [global] timestamp-datadir"]
    text = scenario(tmp_path, 1, 7.0, (), config)
    workloads = tomllib.loads(text)["workload"]
    easy, names, hard = workloads
    assert (easy["io"]["direct"], easy["block"], easy["transfer"]) == (True, "4194304 B", "1 MiB")
    assert (easy["turns"], names["files"], hard["segments"]) == ([1, 1, 7], 20, 10)
    assert (hard["phases"], hard["turns"]) == (["write", "sync"], [3, 3])
    run = bench("io500", "--config", str(file), "--json", "--space", "50MB", *QUIET)
    assert counts(run)["create"] == 20


def test_a_minimal_configuration_has_the_result_of_io500(tmp_path: Path) -> None:
    file = tmp_path / "config-minimal.ini"
    file.write_text(f"[global]\ndatadir = {tmp_path}/datafiles\n", encoding="utf-8")
    words = ("--stonewall", "0.1s", "--space", "60MB", "--json")
    document = json.loads(bench("io500", "--config", str(file), *words, *QUIET).stdout)
    assert document["io500"]["score"] > 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[nothing]", ":1: [nothing]: no such section of IO500"),
        ("n = 3", ':1: "n = 3": expected NAME = VALUE below a [section]'),
        ("[mdtest-easy]\nm = 3", ":2: [mdtest-easy] m: no such"),
        ("[ior-easy]\nrun = maybe", ":2: [ior-easy] run = maybe: expected TRUE or FALSE"),
        ("[ior-easy]\nAPI = DFS --dfs.pool=1", ":2: [ior-easy] API DFS: it needs libdfs"),
        ("[mdtest-easy-write]\nrun = FALSE", "expected no later phase of mdtest-easy"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "io500.ini"
    file.write_text(line, encoding="utf-8")
    assert message in bench("io500", str(tmp_path), "--config", str(file), status=2).stderr
