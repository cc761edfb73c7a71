"""`headrace doctor`: the parts that a machine has and lacks."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from conftest import ROOT, Command, Ended
from headrace import fuse
from headrace import tracefs as tracing
from headrace.cli.app import app
from headrace.doctor import CHECKS, Check, Diagnosis, State, diagnose
from headrace.doctor.check import absent, from_message, present, unknown
from headrace.fields import convert
from headrace.lab import programs
from headrace.landlock import landlock_version
from headrace.profile.capture import attachment, strace
from headrace.render.terminal import rendered
from headrace.sweeps.engines.clusters import import_job_queues
from headrace.views.doctor import view

STATES = [str(it) for it in State]


def part(document: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (it for it in document["parts"] if it["name"] == name)
    return dict(found)


def check(name: str) -> Check:
    (found,) = (it for it in CHECKS if it.name == name)
    return found


def without_programs(tmp_path: Path, *arguments: str) -> Ended:
    """Run the command with an empty directory as PATH."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "headrace", "doctor", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PATH": str(tmp_path / "bin"), "COLUMNS": "300"},
    )


def test_a_document_has_every_part(headrace: Command) -> None:
    ended = headrace("doctor", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    document = json.loads(ended.stdout)
    diagnosis = convert(document, Diagnosis)
    assert document["kind"] == "doctor"
    assert document["version"] == headrace("--version").stdout.split()[1]
    assert document["python"].split(".")[:2] == [str(it) for it in sys.version_info[:2]]
    assert {"kernel", "processors", "memory_bytes"} <= document["environment"].keys()
    assert [it.name for it in diagnosis.parts] == [it.name for it in CHECKS]
    for it in document["parts"]:
        assert set(it) == {"name", "state", "detail", "commands", "remedy"}
        assert it["state"] in STATES and it["detail"] and "\n" not in it["detail"]
        assert it["remedy"] if it["state"] == "absent" else True
        assert it["state"] != "present" or it["remedy"] is None
        assert not it["detail"].startswith("the check failed")


def test_tables_have_every_part_once(headrace: Command) -> None:
    ended = headrace("doctor")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert "This machine has" in ended.stdout
    assert ended.stdout.startswith("Headrace ")
    wide = subprocess.run(
        [sys.executable, "-m", "headrace", "doctor"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "300"},
    ).stdout
    for it in CHECKS:
        assert sum(line.startswith(f" {it.name}  ") for line in wide.splitlines()) == 1, it.name


@pytest.mark.parametrize("width", [40, 60, 80])
def test_tables_obey_narrow_terminals(width: int) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "headrace", "doctor"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": str(width)},
    ).stdout
    assert max(map(len, shown.splitlines())) <= width


def test_without_programs_the_packages_are_named(tmp_path: Path) -> None:
    ended = without_programs(tmp_path, "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    document = json.loads(ended.stdout)
    packages = {"strace": "strace", "C compiler": "gcc", "SSH client": "openssh-client"}
    for name, package in packages.items():
        found = part(document, name)
        assert found["state"] == "absent", name
        assert found["remedy"] == f"install the package {package}"
    assert part(document, "Slurm")["remedy"].endswith("install the package slurm-client")
    assert part(document, "PBS")["state"] == "absent"
    assert part(document, "ptrace")["state"] == "unknown"
    table = without_programs(tmp_path)
    assert table.returncode == 0
    assert "This machine lacks" in table.stdout and "Not checked" in table.stdout
    assert "  strace not found: install the package strace" in table.stdout


def test_programs_of_testbeds_name_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "FOLDERS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check("XFS").run() == absent("mkfs.xfs not found", "install the package xfsprogs")
    assert check("servers of glusterfs").run().remedy == (
        "install the packages glusterfs-server, glusterfs-cli, glusterfs-client, util-linux"
    )
    (tmp_path / "ip").touch(mode=0o755)
    assert check("programs of iproute2").run() == absent(
        "tc not found", "install the package iproute2"
    )
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert check("mpirun").run().remedy == "install the package mpich or openmpi-bin"
    (tmp_path / "mpirun").touch(mode=0o755)
    assert check("mpirun").run() == present(str(tmp_path / "mpirun"))


def test_every_check_names_commands_and_options_that_exist() -> None:
    for it in CHECKS:
        assert it.commands and it.remedy, it.name
        for line in it.commands:
            command: Any = typer.main.get_command(app)
            options: list[str] = []
            for word in line.split():
                if options:
                    continue  # The value of an option.
                if word.startswith("--"):
                    options = [name for known in command.params for name in known.opts]
                    assert word in options, line
                else:
                    command = getattr(command, "commands", {})[word]
    assert len({it.name for it in CHECKS}) == len(CHECKS)


def test_submitting_commands_are_those_of_the_engines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queues = import_job_queues()
    monkeypatch.setenv("PATH", str(tmp_path))
    for kind in queues.KINDS.values():
        (tmp_path / kind.submit).touch(mode=0o755)
    assert check("Slurm").run().state is State.PRESENT
    assert check("PBS").run().state is State.PRESENT


def test_nothing_is_changed(tmp_path: Path) -> None:
    places = {
        name: str(tmp_path)
        for name in ("HOME", "TMPDIR", "HEADRACE_STORE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    }
    ended = subprocess.run(
        [sys.executable, "-m", "headrace", "doctor"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | places | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_it_takes_less_than_a_second_of_the_processor() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "headrace", "doctor"], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


def test_no_tables_are_imported() -> None:
    code = "import sys, headrace.doctor; print(*sorted(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ended.stdout.split()
    for module in ("polars", "numpy", "matplotlib", "nicegui", "dask", "mpi4py"):
        assert module not in loaded


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_gets_the_same_document() -> None:
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    if shutil.which("setpriv") is None or subprocess.run([*user, sys.executable, "-V"]).returncode:
        pytest.skip("another user cannot run this Python")
    ended = subprocess.run(
        [*user, sys.executable, "-m", "headrace", "doctor", "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    document = json.loads(ended.stdout)
    assert part(document, "root")["remedy"] == "run as root"
    assert part(document, "namespaces")["state"] == "unknown"
    assert part(document, "tracefs")["state"] == "absent"


def test_a_part_whose_check_fails_is_unknown() -> None:
    def fail() -> Any:
        raise OSError("no such device")

    assert Check("x", ("run",), fail, "buy one").run() == unknown(
        "the check failed: OSError: no such device"
    )
    assert Check("x", ("run",), lambda: absent("gone"), "buy one").run().remedy == "buy one"
    assert from_message("a: b: do it") == absent("a: b", "do it")


def test_parts_of_all_states_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    monkeypatch.setattr(
        "headrace.doctor.diagnosis.CHECKS",
        (
            Check("alpha", ("run",), lambda: present("1.0"), "-"),
            Check("beta", ("sweep",), lambda: absent("b\x1b[2J"), "install beta"),
            Check("gamma", ("lab up",), lambda: unknown("only root"), "-"),
        ),
    )
    console = Console(width=100, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(rendered(view(diagnose())))
    shown = console.export_text()
    titles = [shown.index(it) for it in ("machine has", "machine lacks", "Not checked")]
    names = [shown.index(it) for it in ("alpha", "beta", "gamma")]
    assert sorted(titles + names) == [titles[0], names[0], titles[1], names[1], titles[2], names[2]]
    assert "\x1b" not in shown and "\\x1b[2J: install beta" in shown


def test_fuse_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse, "DEVICE", tmp_path / "fuse")
    assert check("FUSE").run().detail == f"there is no {tmp_path / 'fuse'}"
    (tmp_path / "fuse").touch()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check("FUSE").run().remedy == "install the package fuse3"
    (tmp_path / "fusermount3").touch(mode=0o755)
    assert check("FUSE").run().state is State.PRESENT


def test_tracefs_names_its_mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PLACES", (tmp_path,))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert check("tracefs").run() == absent(
        f"tracefs is not mounted at {tmp_path}", f"mount it by mount -t tracefs nodev {tmp_path}"
    )
    assert check("tracepoints").run().state is State.UNKNOWN
    (tmp_path / "instances").mkdir()
    assert check("tracefs").run() == present(str(tmp_path))
    assert check("tracepoints").run() == absent(
        "the kernel has no tracepoint block/block_rq_issue",
        "use a kernel with CONFIG_BLK_DEV_IO_TRACE and CONFIG_FTRACE_SYSCALLS",
    )


def test_processes_that_may_not_be_traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scope").write_text("1\n")
    monkeypatch.setattr(attachment, "PTRACE_SCOPE", tmp_path / "scope")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = check("ptrace of running processes").run()
    assert found.detail == f"{tmp_path / 'scope'} is 1"
    assert found.remedy is not None and found.remedy.startswith("run as root, or set it to 0")
    monkeypatch.setattr(strace, "version", lambda: (6, 1))
    monkeypatch.setattr(strace, "refusal", lambda: "programs cannot be traced here: a container")
    found = check("ptrace").run()
    assert found.detail == "programs cannot be traced here: a container"
    assert found.remedy == "leave the container or the tracer, or run as root"


def test_packages_of_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    there = {"dask": "2025.12.1", "dask-jobqueue": "0.9.0"}

    def version(name: str) -> str:
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(metadata, "version", version)
    found = check("Dask").run()
    assert found == absent("dask 2025.12.1 is older than 2026.1", "pip install 'headrace[dask]'")
    there["dask"] = "2026.1.0"
    assert check("Dask").run() == present("dask 2026.1.0, dask-jobqueue 0.9.0")
    del there["dask-jobqueue"]
    assert check("Dask").run().detail == "dask-jobqueue not installed"
    extras = ROOT / "pyproject.toml"
    import tomllib

    known = tomllib.loads(extras.read_text())["project"]["optional-dependencies"].keys()
    named = {it.remedy.partition("[")[2].rstrip("]'") for it in CHECKS if "pip" in it.remedy}
    # No command needs `tables`; the others are for who works on Headrace.
    assert named == known - {"all", "dev", "fuzz", "tables"}


def test_the_version_of_landlock_agrees_with_a_confinement() -> None:
    code = "from headrace._core import confine; raise SystemExit(not confine([], []))"
    is_enforced = subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert (landlock_version() > 0) == is_enforced
