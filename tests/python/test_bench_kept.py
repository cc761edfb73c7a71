"""Ladders and studies: kept in the store, compared, and gone on with."""

import contextlib
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import headrace as hr
import headrace.measure as measure
from command import command, without_need
from conftest import MIX
from headrace.cli.app import run
from headrace.kinds import blocks
from headrace.measure import micro
from headrace.measure.benchmark import Live, Progress
from headrace.measure.resume import read_earlier, with_checksum
from headrace.render.csv import text
from headrace.result_import import import_results
from headrace.store import StoreError

pytestmark = pytest.mark.usefixtures("place")

SIZE = 64 << 10
STUDY = micro.blocks(SIZE, [4096, 16384])


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    return file


class Watched:
    """The steps that are measured, in order."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    @contextmanager
    def __call__(self, title: str) -> Iterator[Progress | None]:
        # The directory is the last, when it is removed.
        if not title.startswith("/"):
            self.steps.append(title)
        yield None


def mixed(workload: Path, **options: Any) -> measure.MixedLoad:
    return measure.MixedLoad(str(workload), **({"seconds": 0.2, "warm_up": 0.0} | options))


def bench(*arguments: object) -> subprocess.CompletedProcess[str]:
    return command("bench", *arguments)


def test_a_ladder_goes_on_with_the_steps_that_are_missing(workload: Path, below: Path) -> None:
    saved: list[dict[str, Any]] = []
    load = mixed(workload)
    measure.load_sweep(load.at, below, rates=[50, 100], so_far=lambda it: saved.append(it.saved()))
    assert [len(it["steps"]) for it in saved] == [1, 2]
    assert saved[0]["stop"]["reason"] == "unfinished"
    watched = Watched()
    whole = measure.load_sweep(
        load.at, below, rates=[50, 100, 200], watch=watched, resumed=saved[0]
    ).document
    assert [it["requested_per_second"] for it in whole["steps"]] == [50, 100, 200]
    assert whole["steps"][0] == saved[0]["steps"][0]
    assert len(watched.steps) == 2 and whole["stop"]["reason"] == "done"


def test_a_ladder_does_not_go_on_with_other_calls(workload: Path, below: Path) -> None:
    saved = workload.parent / "ladder.json"
    chosen = ["mix", below, "--workload", workload, "--rates", "50", "--time", "0.2"]
    chosen += ["--warm-up", "0", "--no-store"]
    assert bench(*chosen, "--calls", "null", "-o", saved).returncode == 0
    assert json.loads(saved.read_text())["calls"] == "null"
    refused = bench(*chosen, "--resume", saved)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert without_need(refused.stderr).count("\n") == 1
    assert "measured with --calls null, not posix: use --calls null" in refused.stderr
    document = json.loads(saved.read_text())
    del document["calls"]
    saved.write_text(json.dumps(document))
    refused = bench(*chosen, "--resume", saved, "--calls", "null")
    assert refused.returncode == 2 and "does not name the calls" in refused.stderr


def test_every_benchmark_says_by_which_calls(workload: Path, below: Path) -> None:
    file = workload.parent / "read.toml"
    file.write_text('[clients]\ncount = 1\n[[workload]]\nblock = "64 KiB"\nphases = ["write"]\n')
    for calls in ("posix", "null"):
        done = bench("run", file, below, "--calls", calls, "--repetitions", "2", "--json")
        document = json.loads(done.stdout)
        assert document["calls"] == calls
        told = any(it["condition"] == "no-calls" for it in document["warnings"])
        assert told == (calls == "null")
    study = micro.run_study(STUDY, below, repeats=1)
    assert study.document["calls"] == "posix"
    listed = hr.store.open().list(calls="null")
    assert listed["kind"].to_list() == ["measured"]


def test_a_ladder_of_clients_goes_on_too(workload: Path, below: Path) -> None:
    saved: list[dict[str, Any]] = []
    load, watched = mixed(workload), Watched()
    for counts in ([1], [1, 2]):
        measure.client_sweep(
            load.with_processes,
            below,
            counts,
            warm_up=0.0,
            watch=watched,
            resumed=saved[-1] if saved else None,
            so_far=lambda it: saved.append(it.saved()),
        )
    assert [title.split(", ")[1] for title in watched.steps] == ["1 processes", "2 processes"]


def test_a_step_that_was_not_finished_is_measured_again(workload: Path, below: Path) -> None:
    load = mixed(workload)
    before = measure.load_sweep(load.at, below, rates=[50]).saved()
    before["steps"][0]["partial"] = True
    before = with_checksum(before)
    watched = Watched()
    measure.load_sweep(load.at, below, rates=[50], watch=watched, resumed=before)
    assert len(watched.steps) == 1


def changed(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**document, "named": "saved.json", **changes}


def test_what_is_of_another_place_version_or_load_is_not_gone_on_with(
    workload: Path, below: Path
) -> None:
    load = mixed(workload)
    before = measure.load_sweep(load.at, below, rates=[50]).saved()
    other = before["place"] | {"host": "elsewhere"}
    longer = mixed(workload, seconds=0.3)
    cases: list[tuple[dict[str, Any], measure.MixedLoad, str]] = [
        (changed(before, place=other), load, "another site .*elsewhere"),
        (changed(before, version="0.0.1"), load, "of version 0.0.1"),
        (changed(before, of="clients"), load, 'its of is "clients"'),
        (changed(before, kind="study"), load, 'its kind is "study"'),
        (changed(before), longer, "other times"),
    ]
    for document, at, told in cases:
        with pytest.raises(ValueError, match=told) as raised:
            measure.load_sweep(at.at, below, rates=[50], resumed=document)
        assert str(raised.value).startswith("saved.json: ")
    assert list(below.iterdir()) == []


def test_steps_that_are_not_as_they_were_saved_are_not_gone_on_with(
    workload: Path, below: Path
) -> None:
    load = mixed(workload)
    before = measure.load_sweep(load.at, below, rates=[50]).saved()
    for steps in ("x", [3], [], [before["steps"][0] | {"achieved_per_second": "fast"}]):
        with pytest.raises(ValueError, match="not as they were saved"):
            measure.load_sweep(load.at, below, rates=[50], resumed=before | {"steps": steps})
    assert list(below.iterdir()) == []


def test_a_study_goes_on_with_the_points_that_are_missing(below: Path) -> None:
    saved: list[micro.StudyResult] = []
    micro.run_study(STUDY, below, repeats=2, so_far=saved.append)
    assert [it.rows.height for it in saved] == list(range(1, 8))
    before = saved[4].document | {"rows": saved[4].rows.to_dict(as_series=False)}
    measured: list[str] = []

    def told(_done: int, _total: int, what: str) -> None:
        measured.append(what)

    whole = micro.run_study(STUDY, below, repeats=2, on_progress=told, resumed=before)
    assert len(measured) == 3
    assert whole.rows.head(5).equals(saved[4].rows)
    assert all(it["repeats"] == 2 for it in whole.document["summary"])
    other = micro.blocks(2 * SIZE, [4096])
    with pytest.raises(ValueError, match="with another workload"):
        micro.run_study(other, below, resumed=before)
    with pytest.raises(ValueError, match='its benchmark is "blocks"'):
        micro.run_study(micro.copy_file(SIZE, 4096), below, resumed=before)


def test_what_a_study_has_stays_when_less_is_asked_for(below: Path) -> None:
    before = micro.run_study(STUDY, below, repeats=3)
    resumed = before.document | {"rows": before.rows.to_dict(as_series=False)}
    blocks = sorted({int(point.parameters["block"]) for point in STUDY.points})
    assert len(blocks) == 2
    saved: list[micro.StudyResult] = []
    other = micro.blocks(SIZE, [blocks[0] // 2, blocks[0]])
    after = micro.run_study(other, below, repeats=1, resumed=resumed, so_far=saved.append)
    new = pl.col("block") == blocks[0] // 2
    for it in (*saved, after):
        assert it.rows.filter(~new).equals(before.rows)
        assert it.document["wanted_repeats"] == 3
        kept = [point for point in it.document["points"] if point in before.document["points"]]
        assert kept == before.document["points"]
    assert after.rows.filter(new).height == len(other.points[0].tests) * sum(
        point.parameters["block"] == blocks[0] // 2 for point in other.points
    )
    assert after.rows["block"].unique().sort().to_list() == [blocks[0] // 2, *blocks]


def interrupting(preparing: bool, at: int) -> Callable[[str], Any]:
    """Interrupts the step of this number, while files are made or after."""
    steps = 0

    @contextmanager
    def watch(_: str) -> Iterator[Progress]:
        nonlocal steps
        steps += 1

        def tell(live: Live) -> None:
            if steps == at and live.preparing == preparing:
                raise KeyboardInterrupt

        yield tell

    return watch


def test_an_interruption_while_files_are_made_leaves_a_marked_ladder(below: Path) -> None:
    # Files in number with the load: each step makes its own.
    many = MIX.replace("files = 20", 'bytes_per_rate = "200 kB"').replace("4 KiB", "16 KiB")
    file = below.parent / "many.toml"
    file.write_text(many)
    load = mixed(file)
    for at, rates in ((1, [4000]), (2, [10, 4000])):
        load_sweep = measure.load_sweep(load.at, below, rates=rates, watch=interrupting(True, at))
        assert load_sweep.partial and load_sweep.document["stop"] == {"reason": "interrupted"}
        assert len(load_sweep.document["steps"]) == at - 1
    assert list(below.iterdir()) == []


def test_ladders_are_compared_step_by_step(workload: Path, below: Path) -> None:
    load = mixed(workload)
    first = measure.load_sweep(load.at, below, rates=[50, 100])
    other = measure.load_sweep(load.at, below, rates=[100, 200])
    ids = [first.keep(labels={"disk": "old"}), other.keep()]
    store = hr.store.open()
    assert store.list(kind="load-sweep")["id"].to_list() == ids[::-1]
    compared = store.compare(ids)
    ratios = compared.table.filter(group=ids[1], figure="operations_per_s")
    assert ratios.filter(operation="100/s")["ratio"].is_not_null().all()
    assert ratios.filter(operation="200/s")["ratio"].is_null().all()
    steps = [it["operation"] for it in compared.json()["figures"]]
    assert steps.index("50/s") < steps.index("100/s") < steps.index("200/s")
    study = micro.run_study(STUDY, below, repeats=1).keep()
    with pytest.raises(StoreError, match="no figure"):
        store.compare([ids[0], study])


def test_load_sweeps_saved_as_ladders_are_read(
    workload: Path, below: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load = mixed(workload)
    broken = measure.load_sweep(load.at, below, rates=[50])
    broken.save(tmp_path / "sweep.json")
    saved = json.loads((tmp_path / "sweep.json").read_text())
    (tmp_path / "old.json").write_text(json.dumps(saved | {"kind": "ladder"}))
    resumed = read_earlier(str(tmp_path / "old.json"))
    whole = measure.load_sweep(load.at, below, rates=[50, 100], resumed=resumed)
    assert whole.document["steps"][0] == saved["steps"][0]
    store = hr.store.open()
    (imported,) = import_results(store, tmp_path / "old.json")
    with contextlib.closing(
        sqlite3.connect(os.environ["HEADRACE_STORE"] + "/catalogue.sqlite")
    ) as db:
        db.execute("UPDATE runs SET kind = 'ladder'")
        db.execute("UPDATE headrace_schema SET version_num = '0005'")
        db.commit()
    ids = [imported, whole.keep()]
    assert run(["results", "list", "--kind", "ladder", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "--kind ladder: this kind is now called load-sweep\n"
    assert {it["id"] for it in json.loads(shown.out)["results"]} == set(ids)
    assert {it["kind"] for it in json.loads(shown.out)["results"]} == {"load-sweep"}
    assert run(["results", "show", imported]) == 0 and "requested" in capsys.readouterr().out
    assert store.compare(ids).table.height
    assert text(blocks("load-sweep", store.shown(imported).document)).count("\n") > 1


def test_what_benchmarks_save_is_shown_handed_on_and_taken_in(
    workload: Path, below: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_sweep, study = tmp_path / "ladder.json", tmp_path / "study.json"
    times = ("--time", "0.2", "--warm-up", "0")
    done = bench("mix", below, "--workload", workload, "--rates", "50", *times, "-o", load_sweep)
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    assert "in the store: " in done.stdout
    shape = ("--file-size", "64k", "--block-sizes", "4k,16k", "--repetitions", "3")
    done = bench("blocks", below, *shape, "-o", study, "--label", "disk=old")
    assert done.returncode == 0 and " ± " in done.stdout
    store = hr.store.open()
    assert store.list(labels={"disk": "old"})["kind"].to_list() == ["study"]
    for kind, title in (("load-sweep", "requested"), ("study", "block")):
        (identifier,) = store.list(kind=kind)["id"]
        shown = subprocess.run(
            [sys.executable, "-m", "headrace", "results", "show", identifier],
            capture_output=True,
            text=True,
        )
        assert title in shown.stdout and shown.returncode == 0
    # A saved result is known again.
    for path in (load_sweep, study):
        assert list(import_results(store, path).values()) == [False]
    store.export(store.list()["id"].to_list(), tmp_path / "all.zip")
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "other"))
    other = hr.store.open()
    assert list(import_results(other, study).values()) == [True]
    assert sorted(import_results(other, tmp_path / "all.zip").values()) == [True, True]
    assert other.table("last", "rows").height == 12


def test_a_killed_study_goes_on_from_its_file(below: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    shape = (
        "blocks",
        below,
        "--file-size",
        "64k",
        "--block-sizes",
        "4k,16k",
        "--no-store",
        "-o",
        saved,
    )
    command = [sys.executable, "-m", "headrace", "bench", *map(str, shape)]
    running = subprocess.Popen([*command, "--repetitions", "100000"], stdout=subprocess.DEVNULL)
    wait_for(saved)
    running.kill()
    running.wait()
    before = json.loads(saved.read_text())
    assert before["stop"]["reason"] == "unfinished"
    done = bench(*shape, "--repetitions", "1", "--resume", saved, "--json")
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    whole = json.loads(saved.read_text())
    assert whole["stop"]["reason"] == "workload"
    assert whole["rows"]["seconds"][0] == before["rows"]["seconds"][0]


def test_a_resumed_file_beside_the_store_goes_with_the_whole_result(
    below: Path, workload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    monkeypatch.setenv("HEADRACE_STORE", str(store))
    kept = store / "unfinished" / "1.json"
    kept.parent.mkdir(parents=True)
    mix = ("mix", below, "--workload", workload, "--time", "0.2", "--warm-up", "0")
    done = bench(*mix, "--rates", "50", "--no-store", "-o", kept)
    assert done.returncode == 0, done.stderr
    done = bench(*mix, "--rates", "50,60", "--resume", kept)
    assert done.returncode == 0 and "in the store: " in done.stdout, done.stderr
    assert list(kept.parent.iterdir()) == []


def test_ctrl_c_tells_the_command_that_goes_on(below: Path, workload: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    arguments = ("mix", below, "--workload", workload, "--rates", "50,60", "--warm-up", "0")
    command = [sys.executable, "-m", "headrace", "bench", *map(str, arguments)]
    command += ["--time", "2", "-o", str(saved), "--no-store"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(saved)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130 and "Interrupted: partial" in " ".join(out.split())
    go_on, interrupted = without_need(err).splitlines()
    assert interrupted == "interrupted" and go_on.startswith("to resume: headrace bench mix ")
    first = json.loads(saved.read_text())["steps"][0]
    again = shlex.split(go_on.removeprefix("to resume: headrace bench "))
    assert bench(*again).returncode == 0
    whole = json.loads(saved.read_text())
    assert whole["stop"]["reason"] == "done" and len(whole["steps"]) == 2
    assert whole["steps"][0] == first


def test_an_interrupted_ladder_goes_on_from_the_store(workload: Path, below: Path) -> None:
    load = mixed(workload)
    identifier = measure.load_sweep(
        load.at, below, rates=[50, 100], watch=interrupting(False, 2)
    ).keep()
    times = ("--time", "0.2", "--warm-up", "0.0", "--no-store", "--json")
    chosen = ("--workload", workload, "--rates", "50,100", *times)
    done = bench("mix", below, *chosen, "--resume", f"results:{identifier}")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    before = hr.store.open().record(identifier).contents
    assert document["steps"][0] == before["steps"][0] and len(document["steps"]) == 2
    missing = bench("mix", below, *chosen, "--resume", "results:nothing")
    assert missing.returncode == 2 and len(missing.stderr.splitlines()) == 1


def wait_for(path: Path) -> None:
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written")
