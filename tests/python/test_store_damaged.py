"""Saved results that were damaged, into the store and out of it again."""

import copy
import functools
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
import headrace.measure as measure
from conftest import MIX, Command
from damage import damaged
from headrace.cli.app import run
from headrace.cli.screen import ProgressLines
from headrace.measure import micro
from headrace.result_import import import_results
from headrace.store import StoreError
from headrace.store.documents import check_document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


@pytest.fixture(scope="module")
def load_sweep(folder: Path) -> dict[str, Any]:
    """A real one, as it is saved."""
    (folder / "mix.toml").write_text(f'name = "mix"\n{MIX}')
    load = measure.MixedLoad(str(folder / "mix.toml"), seconds=0.05, warm_up=0.0)
    made = measure.load_sweep(load.at, folder, rates=[200, 400], repeats=2).saved()
    saved: dict[str, Any] = json.loads(json.dumps(made))
    return saved


@pytest.fixture
def file(folder: Path, place: Path) -> Path:
    """Of a test that has a store of its own."""
    return folder / "damaged.json"


def put(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The document with another value there."""
    made = copy.deepcopy(document)
    inner: Any = made
    *before, last = [int(it) if it.isdecimal() else it for it in path.split("/")]
    for key in before:
        inner = inner[key]
    inner[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            "steps/0/operations/read/count",
            "x",
            "steps.0.operations.read.count = 'x': expected a nu",
        ),
        ("steps/1/name", "200/s", "steps.1.name = '200/s': expected another than that of steps.0"),
        ("steps", {}, "steps = {}: expected a list"),
        ("steps/0/repetitions/0", "x", "steps.0.repetitions.0 = 'x': expected an object"),
        ("repetitions/0", "x", "repetitions.0 = 'x': expected an object"),
        (
            "steps/0/requested_per_second",
            None,
            "steps.0.requested_per_second = None: expected a nu",
        ),
        ("histograms/histogram/0", "AAAA", "its histograms are damaged: histogram.0: "),
        ("histograms/histogram", [], "histograms: a table is malformed"),
        ("series/seconds", 7, "series.seconds = 7: expected a list"),
        ("series", [1], "series = [1]: expected an object with a list for each column"),
        ("steps/0/processes", "two", "steps.0.processes = 'two': expected a"),
        ("steps/0/partial", "no", "steps.0.partial = 'no': expected true or false"),
        ("place/host", 3, "place.host = 3: expected text"),
        ("cores", "many", "cores = 'many': expected a whole number"),
        ("of", 1, "of = 1: expected text"),
        ("calls", "magic", "calls = 'magic': expected one of posix, io-uring, null"),
        ("scenario", {}, "scenario = {}: expected an object with name"),
        ("version", None, "version = None: expected text"),
        (
            "steps/0/service/mean",
            float("nan"),
            "steps[0].service.mean = nan: expected a finite number",
        ),
        ("seed", 10**400, f"seed = 1{'0' * 39} ...: expected a whole number of at most 64 bits"),
        ("scenario/description", "\ud800", "expected text in Unicode"),
    ],
)
def test_what_is_damaged_is_named_and_not_kept(
    headrace: Command, load_sweep: dict[str, Any], file: Path, path: str, value: Any, told: str
) -> None:
    file.write_text(json.dumps(put(load_sweep, path, value)))
    with pytest.raises(ValueError) as raised:
        import_results(hr.store.open(), file)
    assert str(raised.value).startswith(f"{file}: ") and told in str(raised.value)
    assert hr.store.open().list().is_empty()


def test_a_load_sweep_that_measured_no_latency_is_imported(
    headrace: Command, load_sweep: dict[str, Any], file: Path
) -> None:
    """A sweep that is interrupted during its preparation has tables without rows."""
    empty: dict[str, list[Any]] = {name: [] for name in load_sweep["histograms"]}
    file.write_text(json.dumps(load_sweep | {"histograms": empty}))
    assert len(import_results(hr.store.open(), file)) == 1


def test_the_command_refuses_what_is_damaged(
    headrace: Command, load_sweep: dict[str, Any], file: Path
) -> None:
    file.write_text(json.dumps(put(load_sweep, "steps/1/name", "200/s")))
    refused = headrace("results", "import", file)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert refused.stderr.startswith(f"{file}: steps.1.name"), refused.stderr
    file.write_text(json.dumps(load_sweep))
    assert headrace("results", "import", file).returncode == 0


def test_a_damaged_result_is_not_resumed(
    headrace: Command, load_sweep: dict[str, Any], file: Path, folder: Path
) -> None:
    """The check is that of an import."""
    options = ["--workload", folder / "mix.toml", "--rates", "200", "--time", "0.05"]
    for path, value, told in (
        ("cores", "many", "cores = 'many': expected a whole number"),
        ("steps/0/operations/read/count", "x", "steps.0.operations.read.count = 'x': expected"),
        ("series/seconds", 7, "series.seconds = 7: expected a list"),
    ):
        file.write_text(json.dumps(put(load_sweep, path, value)))
        for command in (["results", "import", file], ["bench", "mix", folder, *options]):
            resume = ["--resume", file] if command[0] == "bench" else []
            refused = headrace(*command, *resume)
            assert (refused.returncode, refused.stdout) == (2, "")
            assert refused.stderr.startswith(f"{file}: {told}"), refused.stderr
            assert refused.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def study(folder: Path) -> dict[str, Any]:
    """A study, as it is saved."""
    made = micro.run_study(micro.blocks(64 << 10, [4096]), folder, repeats=1)
    made.save(folder / "study.json")
    saved: dict[str, Any] = json.loads((folder / "study.json").read_text())
    return saved


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("rows/unit/0", "furlong", "rows.unit.0 = 'furlong': expected a known value"),
        ("rows/repeat", ["x", "y"], "rows.repeat.0 = 'x': expected a whole number"),
        ("rows/test", [{}, 3], "rows: a table is malformed"),
        ("summary/0/unit", 3, "summary.0.unit = 3: expected"),
        ("parameters", {}, "parameters = {}: expected a list"),
        ("points/0/parameters", [], "points.0.parameters = []: expected an object"),
        ("wanted_repeats", "x", "wanted_repeats = 'x': expected a number"),
    ],
)
def test_a_damaged_study_is_not_resumed(
    headrace: Command,
    study: dict[str, Any],
    file: Path,
    folder: Path,
    path: str,
    value: Any,
    told: str,
) -> None:
    file.write_text(json.dumps(put(study, path, value)))
    options = ("--file-size", "64 KiB", "--block-sizes", "4 KiB", "--repetitions", "1")
    resumed = headrace("bench", "blocks", folder, *options, "--resume", file)
    imported = headrace("results", "import", file)
    for refused in (resumed, imported):
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"{file}: {told}"), refused.stderr
        assert refused.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def built_once() -> Iterator[None]:
    """Typer builds the command anew for each call, which took a third of what many calls take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture(scope="module")
def undamaged(folder: Path, load_sweep: dict[str, Any]) -> Path:
    """A store with the ladder in it."""
    store, saved = folder / "undamaged", folder / "good.json"
    saved.write_text(json.dumps(load_sweep))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADRACE_STORE", str(store))
        assert run(["results", "import", str(saved)]) == 0
    return store


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[*HealthCheck])
@pytest.mark.usefixtures("built_once")
def test_no_damage_is_more_than_one_clear_error(
    load_sweep: dict[str, Any],
    undamaged: Path,
    tmp_path_factory: pytest.TempPathFactory,
    capfd: pytest.CaptureFixture[str],
    data: st.DataObject,
) -> None:
    document = copy.deepcopy(load_sweep)
    damaged(data, document, ["AAAA", "\0", "\ud800", "200/s"])
    mine = tmp_path_factory.mktemp("store")
    os.environ["HEADRACE_STORE"], before = str(mine / "store"), os.environ["HEADRACE_STORE"]
    shutil.copytree(undamaged, mine / "store")
    bad = mine / "bad.json"
    bad.write_text(json.dumps(document))
    try:
        (whole,) = hr.store.open().list()["id"]
        if one_clear_error(["results", "import", str(bad)], capfd, str(bad)) != 0:
            assert hr.store.open().list().height == 1
            return
        # An older moment is that of the file which was written first.
        (taken, *_) = {*hr.store.open().list()["id"]} - {whole} or {whole}
        for command in (
            ["show", taken],
            ["show", taken, "--step", "200/s"],
            ["show", taken, "--step", "400/s", "--json"],
            ["compare", whole, taken],
            ["compare", whole, taken, "--step", "200/s"],
            ["compare", "--name", "mix", "--by", "date"],
            ["export", taken, "-o", str(mine / "out.zip")],
        ):
            one_clear_error(["results", *command], capfd, "")
        os.environ["HEADRACE_STORE"] = str(mine / "other")
        assert run(["results", "import", str(mine / "out.zip")]) == 0
        capfd.readouterr()
    finally:
        os.environ["HEADRACE_STORE"] = before


def one_clear_error(command: list[str], capfd: pytest.CaptureFixture[str], told: str) -> int:
    """Carries a command out, which is well or refuses in one line; gives its status."""
    # Each command has a process of its own, and so ten seconds before it writes of its progress.
    ProgressLines._begun = None
    status = run(command)
    errors = capfd.readouterr().err
    assert status in (0, 2), (command, errors)
    assert len(errors.splitlines()) == (1 if status else 0), (command, errors)
    assert not status or told in errors, (command, errors)
    for never in ("internal error", "Traceback", "UNIQUE", "sqlite"):
        assert never not in errors, (command, errors)
    return status


def test_a_step_without_a_name_is_of_an_earlier_version(
    headrace: Command, load_sweep: dict[str, Any], place: Path
) -> None:
    kept = {
        key: load_sweep[key] for key in ("kind", "of", "scenario", "seed", "version", "criteria")
    }
    steps = [{key: it for key, it in step.items() if key != "name"} for step in load_sweep["steps"]]
    hr.store.open().add(kept | {"steps": steps}, kind="load-sweep")
    refused = headrace("results", "show", "last", "--step", "200/s")
    assert refused.returncode == 2 and "have no names" in refused.stderr
    assert "has no such step" not in refused.stderr


def test_what_an_earlier_version_took_in_damaged_is_told(
    headrace: Command, load_sweep: dict[str, Any], place: Path
) -> None:
    damaged = put(load_sweep, "steps/0/operations/read/count", "x")
    with pytest.raises(StoreError, match="count = 'x'"):
        check_document(damaged)
    hr.store.open().add(damaged, kind="load-sweep")
    refused = headrace("results", "show", "last", "--step", "200/s")
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert "its 200/s lacks" in refused.stderr
    assert headrace("results", "show", "last", "--step", "200/s", "--json").returncode == 0


def test_what_is_resumed_is_named_where_it_is_damaged(
    load_sweep: dict[str, Any], folder: Path
) -> None:
    load = measure.MixedLoad(str(folder / "mix.toml"), seconds=0.05, warm_up=0.0)
    told = {
        "histograms/histogram/0": ("AAAA", "work.json: its histograms are not as they were saved"),
        "calls": ("magic", "work.json: calls = 'magic': expected one of posix"),
    }
    for path, (value, message) in told.items():
        resumed = put(load_sweep, path, value) | {"named": "work.json"}
        with pytest.raises(ValueError, match=message):
            measure.load_sweep(load.at, folder, rates=[200, 400], repeats=2, resumed=resumed)
