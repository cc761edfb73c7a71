"""`headrace twin` on a real machine: one run, traced if it may be, for all tests of it."""

import json
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from command import command, without_need
from conftest import MACHINE
from headrace.validate.cases import CASES
from traceable import modelled, not_traceable

CHECK = '[[check]]\nname = "c"\nbound = "cache"\nmeasured = "0 s"\npredicted = "1 ms"\n'


class Ran(NamedTuple):
    """What the command left."""

    folder: Path
    printed: str
    not_traced: str
    """Why not, if it was not."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Two rounds of all cases."""
    folder = modelled(tmp_path_factory.mktemp("twin"))
    why = not_traceable(folder)
    (folder / "below").mkdir()
    (folder / "machine.toml").write_text(MACHINE)
    done = command(
        *("twin", str(folder / "below"), "--machine", str(folder / "machine.toml")),
        *("--repetitions", "2", "--passes", "1", "--json", "--plot", str(folder / "plots")),
        *("-o", str(folder / "twin.json")),
        *(() if why else ("--trace-to", str(folder / "trace.parquet"))),
    )
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    return Ran(folder, done.stdout, why)


def test_the_command_draws_and_saves_a_twin(twin: Ran) -> None:
    document = json.loads(twin.printed)
    assert json.loads((twin.folder / "twin.json").read_text()) == document
    assert [point["name"] for point in document["points"]] == [case.name for case in CASES]
    assert document["summary"].keys() == {"cache", "device"}
    plots = twin.folder / "plots"
    assert (plots / "breakdown.svg").read_text().count("<path") > len(CASES)
    assert (plots / "validation.png").stat().st_size > 10_000
    assert list((twin.folder / "below").iterdir()) == []


def test_the_command_keeps_the_trace(twin: Ran) -> None:
    if twin.not_traced:
        pytest.skip(twin.not_traced)
    document = json.loads(twin.printed)
    assert {it["source"] for it in document["breakdowns"]} == {"kernel trace"}
    events = pl.read_parquet(twin.folder / "trace.parquet", columns=["case", "event"])
    assert set(events["case"]) == {case.name for case in CASES}
    assert {"block_rq_issue", "sys_enter_pread64", "sched_switch"} <= set(events["event"])


def test_what_is_no_machines_file_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    below = modelled(tmp_path) / "below"
    below.mkdir()
    (tmp_path / "machine").write_text(MACHINE)
    for wrong in ("none.toml", "machine", "below"):
        refused = command("twin", str(below), "--machine", str(tmp_path / wrong))
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
        assert (
            f"{wrong}: not a machine file: expected a .toml file from headrace calibrate"
            in refused.stderr
        )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"8 us"', '"x"', 'expected a time such as "0.2 ms" or "10 s" of each round, found "x"'),
        ('"12.5 us"', '"-1 us"', 'of each round, found "-1 us"'),
        (
            'cpu.system_call"\nvalues = ["8 us", "10 us", "12.5 us"]',
            'copying.l2_share"\nvalues = ["0.5", "0.5", "2"]',
            "value 3 of [[calibration]]: machine.copying.l2_share=2",
        ),
        ("[[calibration]]", f"{CHECK}[[calibration]]", 'check.0.measured = "0 s": expected more'),
    ],
)
def test_what_is_wrong_in_a_machines_file_is_told_before_anything_is_measured(
    old: str, new: str, told: str, tmp_path: Path
) -> None:
    machine = modelled(tmp_path) / "machine.toml"
    machine.write_text(MACHINE.replace(old, new))
    refused = command("twin", str(tmp_path), "--machine", str(machine), timeout=20)
    assert (refused.returncode, refused.stdout) == (2, "")
    (line,) = refused.stderr.splitlines()
    assert str(machine) in line and told in line


def test_outputs_take_nobodys_place(tmp_path: Path) -> None:
    machine = modelled(tmp_path) / "machine.toml"
    machine.write_text(MACHINE)
    for arguments, told in (
        (("twin", "--machine", machine, "-o", machine), "--output is also the machine's file"),
        (("twin", "-o", "new", "--plot", "new"), "--plot is also --output"),
        (("calibrate", "-o", "new", "--plot", "new"), "--plot is also --output"),
    ):
        verb, *rest = arguments
        refused = command(verb, str(tmp_path), *rest, cwd=tmp_path, timeout=20)
        assert refused.returncode == 2 and told in refused.stderr, refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    assert machine.read_text() == MACHINE
