"""What a machine and a directory can do: measured, stored, found again, simulated."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

import headrace as hr
from command import without_need
from conftest import Command
from headrace._core import parse_rate
from headrace.environment import Environment, of_directory
from headrace.measure import micro
from headrace.profile.baseline import (
    Baseline,
    Figure,
    changes,
    characters,
    import_baseline,
    measure_baseline,
    measurement,
    prediction,
)
from headrace.profile.baseline.cases import (
    FIGURES,
    Case,
    Sizes,
    cases,
    character_cases,
    concurrent_case,
)
from headrace.profile.baseline.machine import SYSTEMS, machine_text

KIB, MIB = 1 << 10, 1 << 20
TINY = measurement.Effort(1.0, 0.3, 1, 64 * KIB, 64)
"""As short as a busy machine allows: a request has to complete in each time."""
SIZES = Sizes(MIB, 64 * KIB, MIB, MIB, MIB, 0.3, 1.0, 64)
NETWORK = {"network-send", "network-round-trip"}
KNOWN = {
    "character-write": 50e6,
    "character-read": 100e6,
    "block-write": 200e6,
    "rewrite": 100e6,
    "block-read": 250e6,
    "cached-write": 1e9,
    "cached-read": 4e9,
    "random-read": 5000.0,
    "random-write": 2500.0,
    "sync-write": 100.0,
    "small-call": 2e6,
    "create": 50_000.0,
    "stat": 500_000.0,
    "remove": 100_000.0,
}
"""Figures of a machine that never was."""


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements that take no time."""
    monkeypatch.setattr(measurement, "QUICK", TINY)


def of_known(directory: Path, **environment: Any) -> Baseline:
    figures = {
        name: Figure(value=value, unit="B/s" if value > 1e6 * 10 else "1/s", method="made up")
        for name, value in KNOWN.items()
    }
    return Baseline(
        version="0",
        environment=cast(Environment, of_directory(directory) | environment),
        figures=figures,
        file_bytes=64 * MIB,
        file_rule="made up",
        settings={},
    )


@pytest.mark.usefixtures("tiny")
def test_every_figure_is_measured_stored_and_found(below: Path, place: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    found = measure_baseline(
        below, file=MIB, quick=True, on_progress=lambda *step: steps.append(step)
    )
    assert list(below.iterdir()) == []
    assert found.missing == {}
    assert list(found.figures) == [name for name in FIGURES if name not in NETWORK]
    for name, figure in found.figures.items():
        assert figure.value > 0, name
        assert figure.cpu is not None and figure.cpu >= 0, name
        assert figure.unit in ("B/s", "1/s"), name
    # Nothing simulates a copy of memory.
    predicted = {it.figure for it in found.self_check}
    assert predicted == set(found.figures) - {"memory-copy"}
    assert found.concurrency is not None and found.concurrency > 0
    assert found.largest_error in found.self_check
    assert [done for done, _, _ in steps] == list(range(len(steps)))
    assert {total for _, total, _ in steps} == {len(steps)}

    assert Baseline.find(below) is None
    identifier = found.keep({"disk": "new"})
    again = Baseline.find(below)
    assert again == found
    assert again is not None and again.id == identifier
    assert again.outdated(below) == []
    assert again.age_note() is None
    table = hr.store.open().figures([identifier])
    assert {"block-read", "stat"} <= set(table["operation"])


def test_without_a_compiler_the_engine_measures_characters(
    below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = measurement._Findings()
    with characters.compiled() as program:
        assert program is None
        measurement._characters(program, below, SIZES, found)
    assert "fgetc_unlocked" in found.figures["character-read"].method
    assert any("no C compiler" in note for note in found.notes)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_compiler_makes_the_loop_that_programs_have(below: Path) -> None:
    found = measurement._Findings()
    with characters.compiled() as program:
        measurement._characters(program, below, SIZES, found)
        assert program is not None
        with pytest.raises(hr.RunError, match="characters: .+"):
            # It checks the number of bytes that it has read.
            characters.measure_characters(program, below, -1)
    assert "loop of fgetc" in found.figures["character-read"].method
    assert list(below.iterdir()) == []


def failing(monkeypatch: pytest.MonkeyPatch, word: str, message: str) -> None:
    """Workloads that contain a word fail."""
    run = measurement._run

    def failing(text: str, directory: Any) -> Any:
        if word in text:
            raise hr.RunError(message)
        return run(text, directory)

    monkeypatch.setattr(measurement, "_run", failing)


def one_case(name: str) -> Case:
    (found,) = (it for it in cases(SIZES, 1) if it.name == name)
    return found


def test_a_file_system_without_direct_transfers(
    below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, "direct = true", "opening: invalid argument")
    found = measurement._Findings()
    measurement._measure(one_case("random-read"), below, found)
    assert found.figures["random-read"].method.startswith("uncached reads")
    (note,) = (it for it in found.notes if it.startswith("random-read"))
    assert note.startswith("random-read: no direct I/O here (opening: invalid argument)")
    assert measurement._concurrency(below, SIZES, found) is None


def test_a_figure_that_fails_is_left_out_and_named(
    below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, "pipeline", "read-write: input/output error")
    found = measurement._Findings()
    measurement._measure(one_case("rewrite"), below, found)
    assert (found.figures, found.missing) == ({}, {"rewrite": "read-write: input/output error"})


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("kernel", "Linux 2.4", r"kernel was Linux 2.4, is .+"),
        ("mount_options", "ro", r"mount options was ro, is .+"),
        ("processors", 999, r"processors was 999, is \d+"),
        ("file_system", "ext9", r"file system was ext9, is .+"),
        ("memory_bytes", 1 << 20, r"memory was 1.05 MB, is .+"),
        ("device", "sdzz9", r"device was sdzz9, is .+"),
    ],
)
def test_a_change_makes_it_out_of_date(below: Path, key: str, value: object, sentence: str) -> None:
    (changed,) = of_known(below, **{key: value}).outdated(below)
    assert re.fullmatch(sentence, changed)


def test_what_is_no_change() -> None:
    before = {"memory_bytes": 1000, "directory": "/a", "kernel": "6", "device": "vda"}
    now = {"memory_bytes": 1005, "directory": "/b", "device": "vda", "mount_options": "rw"}
    assert changes.differences(before, now) == []
    assert changes.differences({"device": "vda"}, {}) == ["device was vda, is none"]


def test_age_is_a_note_only(below: Path) -> None:
    old = of_known(below, started="2020-01-01T00:00:00Z")
    assert old.outdated(below) == []
    assert re.fullmatch(r"the baseline is \d+ days old", old.age_note() or "")


@pytest.mark.usefixtures("place")
def test_the_newest_of_this_host_and_file_system_is_found(below: Path) -> None:
    of_known(below, started="2026-01-02T00:00:00Z", kernel="newer").keep()
    of_known(below, started="2026-01-01T00:00:00Z", kernel="older").keep()
    of_known(below, started="2026-01-03T00:00:00Z", host="another").keep()
    elsewhere = {"mount_point": "/elsewhere", "mount_source": "/dev/elsewhere"}
    of_known(below, started="2026-01-04T00:00:00Z", **elsewhere).keep()
    found = Baseline.find(below)
    assert found is not None
    assert found.environment["kernel"] == "newer"


@pytest.mark.usefixtures("place")
def test_a_file_system_that_is_mounted_elsewhere_now(
    below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = of_directory(below) | {"mount_source": "/dev/sdq1"}
    module = sys.modules["headrace.profile.baseline.baseline"]
    monkeypatch.setattr(module, "of_local_directory", lambda _: here)
    of_known(below, mount_point="/old", mount_source="/dev/sdq1").keep()
    found = Baseline.find(below)
    assert found is not None
    assert any(it.startswith("mount point was /old") for it in found.outdated(below))


@pytest.mark.parametrize("system", [*SYSTEMS, "tmpfs"])
def test_the_machine_has_the_figures(system: str) -> None:
    """Its parameters follow from the figures by the models' own arithmetic."""
    text = machine_text(KNOWN, {}, {}, {"file_system": system}, 32 * MIB)
    sizes = Sizes(32 * MIB, 4 * MIB, 8 * MIB, 8 * MIB, 64 * MIB, 0.1, 1.0, 500)
    found = prediction.predict(text, [*cases(sizes, 1), *character_cases(sizes.characters)])
    for name in ("random-read", "random-write", "cached-read", "cached-write", "small-call"):
        assert found[name] == pytest.approx(KNOWN[name], rel=0.01), name
    for name in ("create", "stat", "remove"):
        assert found[name] == pytest.approx(KNOWN[name], rel=0.01), name
    assert found["sync-write"] == pytest.approx(KNOWN["sync-write"], rel=0.02)
    assert found["block-read"] == pytest.approx(KNOWN["block-read"], rel=0.1)
    assert found["block-write"] == pytest.approx(KNOWN["block-write"], rel=0.1)


@pytest.mark.parametrize("concurrency", [2.0, 5.2, 11.0])
def test_the_device_serves_as_many_at_once(concurrency: float) -> None:
    text = machine_text(KNOWN, {}, {"machine.cpu.cores": "16"}, {}, 32 * MIB, concurrency)
    case = concurrent_case(Sizes(32 * MIB, 0, 0, 0, 0, 0.1, 1.0, 0))
    rate = prediction.predict(text, [case])["concurrent-read"]
    assert rate == pytest.approx(round(concurrency) * KNOWN["random-read"], rel=0.05)


def test_a_file_beyond_the_background_limit_is_written_meanwhile() -> None:
    settings = {"machine.write_back.background_bytes": '"16 MiB"'}

    def rate(size: int) -> float:
        text = machine_text(KNOWN, {}, settings, {}, size)
        return parse_rate(str(re.findall(r'device_write_rate = "(.+)"', text)[0]))

    assert rate(32 * MIB) == pytest.approx(200e6)
    assert rate(8 * MIB) == pytest.approx(250e6)


def test_a_machine_needs_its_figures() -> None:
    with pytest.raises(ValueError, match="the baseline has no block-read, small-call"):
        machine_text({"block-write": 1.0, "cached-read": 1.0, "cached-write": 1.0}, {}, {}, {}, 1)


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "study"},
        {"figures": {"stat": {"value": "fast", "unit": "1/s", "method": ""}}},
        {"figures": 3},
        {"environment": {}},
        {"environment": {"started": "yesterday"}},
        {"self_check": [{}]},
    ],
)
def test_a_damaged_document_is_refused(below: Path, damage: dict[str, Any]) -> None:
    document = of_known(below).document()
    assert Baseline.from_document(document) == of_known(
        below, started=document["environment"]["started"]
    )
    with pytest.raises(ValueError, match="baseline"):
        Baseline.from_document(document | damage)


@pytest.fixture
def disk(below: Path, tmp_path: Path) -> Path:
    """A saved result of bench disk."""
    path = tmp_path / "disk.json"
    micro.run_study(micro.disk(64 * KIB, seeks=4, names=4), below, repeats=1).save(path)
    return path


def altered(path: Path, **changed: Any) -> Path:
    """A saved result with other values in its environment."""
    document = json.loads(path.read_text())
    document["environment"] |= changed
    other = path.with_name("altered.json")
    other.write_text(json.dumps(document))
    return other


def test_saved_results_become_a_baseline(disk: Path, below: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.json"
    study = micro.sweep([64 * KIB], [4 * KIB, 16 * KIB])
    micro.run_study(study, below, repeats=1).save(sweep)
    found = import_baseline(below, [str(disk), str(sweep)])
    rows = {it["test"]: it for it in json.loads(disk.read_text())["summary"]}
    assert found.figures["block-read"].value == rows["block read"]["median"]
    assert found.figures["remove"].value == rows["unlink"]["median"]
    assert found.figures["remove"].cpu == rows["unlink"]["cpu"]
    # Cached random reads are none of the device's.
    assert {"cached-read", "cached-write"} <= set(found.figures)
    assert not {"random-read", "small-call"} & set(found.figures)
    assert found.environment["started"] == json.loads(disk.read_text())["environment"]["started"]
    assert found.outdated(below) == []
    with pytest.raises(ValueError, match="small-call"):
        found.machine()


@pytest.mark.parametrize(
    ("key", "value"),
    [("host", "another"), ("mount_point", "/other"), ("file_system", "ext9"), ("device", "sdzz9")],
)
def test_results_of_another_device_are_refused(
    disk: Path, below: Path, key: str, value: str
) -> None:
    with pytest.raises(ValueError, match=f"its {key.replace('_', ' ')} is {value}, and here"):
        import_baseline(below, [str(altered(disk, **{key: value}))])


def test_results_before_and_after_a_change_are_refused(disk: Path, below: Path) -> None:
    with pytest.raises(ValueError, match="differs from .+: kernel was .+, is Linux 2.4"):
        import_baseline(below, [str(disk), str(altered(disk, kernel="Linux 2.4"))])


def test_an_older_kernel_makes_an_imported_baseline_out_of_date(disk: Path, below: Path) -> None:
    found = import_baseline(below, [str(altered(disk, kernel="Linux 2.4"))])
    (changed,) = found.outdated(below)
    assert changed.startswith("kernel was Linux 2.4")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a scenario in TOML or a saved result"),
        ('{"kind": "study", "benchmark": "disk"}', "the result is damaged"),
        ('{"kind": "study", "benchmark": "disk", "summary": [3]}', "the result is damaged"),
        ('{"kind": "network", "messages": []}', "the result is damaged"),
        ('{"kind": "measured"}', "it has no figure of a baseline"),
        ('{"kind": "study", "environment": {"started": 3}}', "the result is damaged"),
    ],
)
def test_other_files_are_refused(below: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        import_baseline(below, [str(path)])


@pytest.fixture
def answering() -> Iterator[tuple[str, str]]:
    """A host that answers: its address and its token."""
    running = subprocess.Popen(
        [sys.executable, "-m", "headrace", "bench", "net", "answer", "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    told = "".join(running.stdout.readline() for _ in range(3))
    found = re.search(r"ask (\S+) --token (\S+)", told)
    assert found, told
    yield found[1], found[2]
    running.kill()
    running.communicate()


def test_a_peer_gives_figures_of_the_network(answering: tuple[str, str]) -> None:
    found = measurement._Findings()
    measurement._network(*answering, TINY, found)
    assert found.figures["network-send"].unit == "B/s"
    assert 0 < found.figures["network-round-trip"].value < 10
    assert found.figures["network-round-trip"].unit == "s"


def test_a_wrong_peer_costs_no_measurement(below: Path) -> None:
    steps: list[str] = []
    with pytest.raises(OSError, match="refused"):
        measure_baseline(
            below,
            peer="127.0.0.1:1",
            token="none",
            on_progress=lambda _done, _total, name: steps.append(name),
        )
    assert steps == ["network"]


@pytest.mark.usefixtures("place")
def test_the_command_measures_shows_and_saves(headrace: Command, below: Path) -> None:
    files = below.parent / "files"
    ended = headrace(
        *("baseline", below, "--quick", "--file-size", "1m", "--json", "--plot", files),
        *("--save-machine", below.parent / "machine.toml", "--label", "disk=new"),
        *("-o", below.parent / "saved.json"),
    )
    assert (ended.returncode, without_need(ended.stderr)) == (0, "")
    document = json.loads(ended.stdout)
    assert document["kind"] == "baseline"
    assert sorted(it.name for it in files.iterdir()) == ["baseline.png", "baseline.svg"]
    assert list(below.iterdir()) == []
    saved = json.loads((below.parent / "saved.json").read_text())
    assert msgspec.to_builtins(Baseline.from_document(saved).figures) == document["figures"]
    # It can be taken into another store.
    assert headrace("results", "import", below.parent / "saved.json").returncode == 0
    work = below.parent / "work.toml"
    work.write_text('system = "machine.toml"\n[[workload]]\nblock = "1 MiB"\n')
    assert headrace("run", work, "--no-store").returncode == 0

    shown = headrace("baseline", below, "--show")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "block-write" in shown.stdout
    assert "Up to date" in shown.stdout
    assert "block-write" in headrace("results", "show", document["id"]).stdout
    as_json = json.loads(headrace("baseline", below, "--show", "--json").stdout)
    assert (as_json["id"], as_json["outdated"]) == (document["id"], [])

    hr.store.open().add(
        document | {"environment": document["environment"] | {"kernel": "Linux 2.4"}},
        kind="baseline",
        started=Baseline.from_document(saved).started.replace(year=2100),
    )
    shown = headrace("baseline", below, "--show")
    assert shown.returncode == 1
    assert "Out of date: kernel was Linux 2.4" in shown.stdout


@pytest.mark.usefixtures("place")
def test_there_is_none(headrace: Command, below: Path) -> None:
    ended = headrace("baseline", below, "--show")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"{below}: no baseline of this host and file system")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--file-size", "10001"], "--file-size: 10001 B: expected a multiple of 8 KiB"),
        (["--file-size", "1000000t"], "{below}: the benchmark needs"),
        (["--peer", "localhost:1"], "--peer: expected both --peer and --token, or neither"),
        (["--machine", "no.toml"], "no.toml: no such file"),
        (["--machine", "no.txt"], "--machine no.txt: expected a .toml file"),
        (["--show", "--quick"], "--show: measures nothing: expected no --quick"),
        (
            ["--import", "x", "--file-size", "1m"],
            "--import: measures nothing: expected no --file-size",
        ),
        (["--import", "no.json"], "no.json: no such file"),
        (["--no-store", "--label", "a=b"], "--label has no effect with --no-store"),
        (["-o", "x.csv"], "x.csv: "),
    ],
)
def test_wrong_input_is_one_line(
    headrace: Command, below: Path, arguments: list[str], message: str
) -> None:
    ended = headrace("baseline", below, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(message.format(below=below)), ended.stderr
    assert ended.stderr.count("\n") == 1


def test_no_directory_is_wrong_input(headrace: Command, tmp_path: Path) -> None:
    ended = headrace("baseline", tmp_path / "none")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"{tmp_path / 'none'}: no such file or directory\n"


def test_ctrl_c_leaves_nothing(below: Path, place: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "headrace", "baseline", str(below), "--file-size", "64m"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(below.parent)},
    )
    while not list(below.iterdir()):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out, err) == (130, "", "interrupted\n")
    assert list(below.iterdir()) == []
    assert [it for it in below.parent.iterdir() if it.name.startswith("headrace-")] == []
    assert not place.exists()
