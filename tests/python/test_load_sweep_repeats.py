"""Load sweeps measured with repetitions, and the figures of their steps."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import headrace as hr
import headrace.measure as measure
from command import command, without_need
from conftest import MIX
from headrace.intervals import half_width
from headrace.kinds import blocks
from headrace.measure.benchmark import Live, Progress
from headrace.render.pictures import drawn
from headrace.render.terminal import rendered
from headrace.store import Store, StoreError


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of each test's own."""
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "own-store"))


@pytest.fixture
def load(tmp_path: Path) -> measure.MixedLoad:
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    return measure.MixedLoad(str(file), seconds=0.2, warm_up=0.0)


class Watched:
    """The steps that are measured, in order; the one of number `interrupted` is interrupted while
    its operations are carried out."""

    def __init__(self, interrupted: int = 0) -> None:
        self.steps: list[str] = []
        self.interrupted = interrupted

    @contextmanager
    def __call__(self, title: str) -> Iterator[Progress | None]:
        # The directory is the last, when it is removed.
        removing = title.startswith("/")
        if not removing:
            # Without the space that the step needs.
            self.steps.append(re.sub(r", [\d.]+ k?B in \d+ files", "", title.split(", ", 1)[1]))
        at = len(self.steps)

        def tell(live: Live) -> None:
            if not removing and at == self.interrupted and not live.preparing:
                raise KeyboardInterrupt

        yield tell


def shown(document: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(rendered(blocks("load-sweep", document)))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def by_operation(histograms: pl.DataFrame, step: str, time: str) -> dict[str, tuple[int, float]]:
    found = measure.percentiles([histograms.filter(step=step)], [0.99]).filter(time=time)
    return {row["operation"]: (row["count"], row["time_s"]) for row in found.to_dicts()}


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_step_has_the_figures_of_a_measurement(
    repeats: int, load: measure.MixedLoad, below: Path
) -> None:
    load_sweep = measure.load_sweep(load.at, below, rates=[100, 200], repeats=repeats)
    single = measure.measure(load.at(100), below).document
    for step in load_sweep.document["steps"]:
        # All of it but what the load sweep says once, and the end, which is the load sweep's.
        once = {"kind", "scenario", "seed", "version", "calls", "load", "phases", "stop"}
        once.add("environment")
        assert single.keys() - once <= step.keys()
        assert single["load"].keys() <= step.keys()
        for key, time in (("latency", "service"), ("latency_from_intended", "response")):
            found = by_operation(load_sweep.histograms, step["name"], time)
            assert found.keys() == step[key].keys() >= {"all", "read", "write", "stat"}
            for operation, (count, p99) in found.items():
                assert step[key][operation]["count"] == count
                assert step[key][operation]["p99"] == p99
        assert step["response"] == step["latency_from_intended"]["all"]
        counted = sum(it["count"] for it in step["operations"].values())
        assert load_sweep.series.filter(step=step["name"])["count"].sum() == counted
        of_it = load_sweep.counters.filter(step=step["name"])
        assert of_it["repetition"].unique().sort().to_list() == list(range(1, repeats + 1))
        assert ("intervals" in step) == ("repetitions" in step) == (repeats > 1)
    assert ("±" in shown(load_sweep.document)) == (repeats == 3)
    assert max(map(len, shown(load_sweep.document).splitlines())) <= 100


def test_whole_sweeps_are_repeated_and_their_figures_have_intervals(
    load: measure.MixedLoad, below: Path
) -> None:
    watched = Watched()
    load_sweep = measure.load_sweep(load.at, below, rates=[100, 200], repeats=3, watch=watched)
    assert watched.steps == [
        f"{rate} operations/s, repeat {repeat} of 3" for repeat in (1, 2, 3) for rate in (100, 200)
    ]
    document = load_sweep.document
    assert document["wanted_repeats"] == 3 and len(document["repetitions"]) == 3
    for step in document["steps"]:
        each = step["repetitions"]
        achieved = [it["load"]["achieved_per_second"] for it in each]
        assert step["achieved_per_second"] == pytest.approx(sum(achieved) / 3)
        assert step["intervals"]["achieved_per_second"] == half_width(achieved)
        means = [it["latency_from_intended"]["all"]["mean"] for it in each]
        assert step["intervals"]["response"]["mean"] == half_width(means)
        p99 = [it["latency"]["read"]["p99"] for it in each]
        assert step["intervals"]["latency"]["read"]["p99"] == half_width(p99)
        rates = [it["operations"][step["name"]]["per_second"] for it in document["repetitions"]]
        assert rates == achieved
    upper, lower = drawn(blocks("load-sweep", document))["load-sweep"].axes
    # Bands of the load achieved, and of the mean, p95 and p99.
    assert (len(upper.collections), len(lower.collections)) == (1, 3)


def test_loads_that_were_found_are_those_of_every_repeat(
    load: measure.MixedLoad, below: Path
) -> None:
    watched = Watched(4)
    # Nothing takes no time: the search goes down to the lowest load, 0.04, 0.02, 0.01. What is
    # asked for instead is more, so that there is something to measure.
    limits = measure.Criteria(response_s=0.0)
    options: dict[str, Any] = {"start": 0.04, "refinements": 1, "criteria": limits}
    load_sweep = measure.load_sweep(
        lambda rate: load.at(10 * rate + 50), below, repeats=2, watch=watched, **options
    )
    assert load_sweep.document["stop"]["reason"] == "interrupted"
    first = [it.removesuffix(" 1 of 2") for it in watched.steps if it.endswith(" 1 of 2")]
    again = [it.removesuffix(" 2 of 2") for it in watched.steps if it.endswith(" 2 of 2")]
    assert len(first) == 3 and again == first[:1]
    assert [len(it["repetitions"]) for it in load_sweep.document["steps"]] == [1, 1, 1]
    assert not any(it.get("partial") for it in load_sweep.document["steps"])


@pytest.mark.parametrize("from_store", [False, True])
def test_a_load_sweep_goes_on_with_the_right_repeat(
    from_store: bool, load: measure.MixedLoad, below: Path
) -> None:
    from headrace.measure.resume import read_earlier

    rates = [100, 200]
    broken = measure.load_sweep(load.at, below, rates=rates, repeats=3, watch=Watched(4))
    assert broken.partial and broken.document["stop"] == {"reason": "interrupted"}
    assert [len(it["repetitions"]) for it in broken.document["steps"]] == [2, 1]
    assert "1 to 2 of 3 repeats" in shown(broken.document)
    assert "Interrupted: partial" in shown(broken.document)
    # The whole repeats are what the store takes for samples.
    assert len(broken.document["repetitions"]) == 1
    file = below.parent / "sweep.json"
    broken.save(file)
    resumed = read_earlier(f"results:{broken.keep()}" if from_store else str(file))
    watched = Watched()
    whole = measure.load_sweep(
        load.at, below, rates=rates, repeats=3, watch=watched, resumed=resumed
    )
    assert watched.steps == [
        "200 operations/s, repeat 2 of 3",
        "100 operations/s, repeat 3 of 3",
        "200 operations/s, repeat 3 of 3",
    ]
    assert whole.document["stop"] == {"reason": "done"}
    before, after = broken.document["steps"][0], whole.document["steps"][0]
    assert after["repetitions"][:2] == before["repetitions"]
    same = broken.histograms.filter(step="100/s")
    assert whole.histograms.filter(pl.col("step") == "100/s", pl.col("repetition") < 3).equals(same)
    # More repeats of what was measured once.
    once = measure.load_sweep(load.at, below, rates=[100])
    watched = Watched()
    thrice = measure.load_sweep(
        load.at, below, rates=[100], repeats=2, watch=watched, resumed=once.saved()
    )
    assert watched.steps == ["100 operations/s, repeat 2 of 2"]
    (step,) = thrice.document["steps"]
    first, single = step["repetitions"][0], once.document["steps"][0]
    assert first["latency"] == single["latency"]
    assert first["load"]["achieved_per_second"] == single["achieved_per_second"]


def test_tables_that_were_not_saved_or_are_damaged(load: measure.MixedLoad, below: Path) -> None:
    saved = measure.load_sweep(load.at, below, rates=[100]).saved()
    watched = Watched()
    without = {key: it for key, it in saved.items() if key != "histograms"}
    measure.load_sweep(load.at, below, rates=[100], watch=watched, resumed=without)
    assert len(watched.steps) == 1
    for damaged in ("x", {"operation": 3}, {"operation": [[1]]}):
        with pytest.raises(ValueError, match="histograms are not as they were saved"):
            measure.load_sweep(load.at, below, rates=[100], resumed=saved | {"histograms": damaged})


def test_a_load_sweep_of_clients_has_intervals_too(load: measure.MixedLoad, below: Path) -> None:
    watched = Watched()
    load_sweep = measure.client_sweep(
        load.with_processes, below, [1, 2], warm_up=0.0, repeats=3, watch=watched
    )
    assert watched.steps[:3] == [
        "1 processes, repeat 1 of 3",
        "2 processes, repeat 1 of 3",
        "1 processes, repeat 2 of 3",
    ]
    first, second = load_sweep.document["steps"]
    each: list[list[float]] = [
        [it["operations"][step["name"]]["per_second"] for it in load_sweep.document["repetitions"]]
        for step in (first, second)
    ]
    assert second["operations_per_second"] == pytest.approx(sum(each[1]) / 3)
    assert second["intervals"]["operations_per_second"] == half_width(each[1])
    ratios = [more / begun for begun, more in zip(*each, strict=True)]
    assert second["intervals"]["speedup"] == pytest.approx(half_width(ratios))
    assert second["latency"].keys() == {"all", "read", "write", "stat"}
    assert by_operation(load_sweep.histograms, "processes 2", "service").keys() == {
        *second["latency"]
    }
    assert "±" in shown(load_sweep.document)
    assert max(map(len, shown(load_sweep.document).splitlines())) <= 100
    picture = drawn(blocks("load-sweep", load_sweep.document))["clients"]
    assert len(picture.axes[0].collections) == 1


def test_steps_are_catalogued_by_operation(
    store: Store, load: measure.MixedLoad, below: Path
) -> None:
    sweeps = [
        measure.load_sweep(load.at, below, rates=rates, repeats=2)
        for rates in ([100, 200], [200, 400])
    ]
    names = ("series", "counters", "histograms")
    ids = [
        store.add(it.document, {name: getattr(it, name) for name in names}, kind="load-sweep")
        for it in sweeps
    ]
    found = store.step_figures([ids[0]])
    step = sweeps[0].document["steps"][1]
    asked = {"step": "200/s", "operation": "read"}
    for number, of_it in enumerate([step, *step["repetitions"]]):
        figures = found.filter(repetition=number, **asked)
        values = dict(figures.select("figure", "value").iter_rows())
        assert values["latency_p99_s"] == of_it["latency"]["read"]["p99"]
        assert values["response_p95_s"] == of_it["latency_from_intended"]["read"]["p95"]
        assert values["operations_per_s"] == of_it["operations"]["read"]["per_second"]
        assert values["throughput_bytes_per_s"] == of_it["throughput"]["read"]
    assert "group file-stat" in found["operation"].to_list()
    kept = store.table(ids[0], "histograms")
    assert by_operation(kept, "200/s", "service")["read"][1] == step["latency"]["read"]["p99"]
    # Lists of results stay short.
    assert "read" not in store.figures([ids[0]])["operation"].to_list()
    # Whole load sweeps are compared by their repeats, and a step by its operations.
    both = store.compare(ids).table.filter(operation="200/s", figure="operations_per_s")
    assert both["samples"].to_list() == [2, 2]
    one = store.compare(ids, step="200/s").table.filter(operation="read", figure="response_p99_s")
    assert one["samples"].to_list() == [2, 2] and one["ratio"].null_count() == 1
    with pytest.raises(StoreError, match="expected one of 100/s, 200/s, 400/s"):
        store.compare(ids, step="300/s")
    assert store.shown_step(ids[0], "200/s").step == step
    with pytest.raises(StoreError, match="expected 100/s, 200/s"):
        store.shown_step(ids[0], "400/s")
    # Percentiles of several load sweeps are of all their operations at the step.
    for version, it in (("0.0.1", sweeps[0]), ("0.0.1", sweeps[1]), ("0.0.2", sweeps[0])):
        tables = {name: getattr(it, name) for name in names}
        store.add(it.document | {"version": version}, tables, kind="load-sweep")
    together = store.compare(name="mix", by="version", step="200/s").table
    p99 = together.filter(group="0.0.1", operation="read", figure="response_p99_s")
    all_of_it = pl.concat([it.histograms for it in sweeps])
    assert p99["value"].to_list() == [by_operation(all_of_it, "200/s", "response")["read"][1]]
    store.remove(ids[0])
    assert store.step_figures([ids[1]]).height > 0


def test_the_command_repeats_and_shows_a_step(load: measure.MixedLoad, below: Path) -> None:
    def headrace(*arguments: object) -> str:
        done = command(*arguments)
        assert (done.returncode, without_need(done.stderr)) == (0, "")
        return done.stdout

    mix: tuple[object, ...] = ("bench", "mix", below, "--rates", "100,200")
    mix += ("--workload", below.parent / "mix.toml")
    mix += ("--time", "0.2", "--warm-up", "0", "--repetitions", "2", "--json")
    document = json.loads(headrace(*mix, "--plot", below.parent / "plots"))
    assert [len(it["repetitions"]) for it in document["steps"]] == [2, 2]
    assert (below.parent / "plots" / "load-sweep.png").stat().st_size > 1000
    text = headrace("results", "show", "last", "--step", "100/s")
    assert "2 repeats" in text and "Response time" in text and "stat" in text
    told = json.loads(headrace("results", "show", "last", "--step", "100/s", "--json"))
    assert told["step"] == document["steps"][0]
    assert hr.store.open().list()["calls"].to_list() == ["posix"]


def test_what_a_load_sweep_has_stays_when_less_is_asked_for(
    load: measure.MixedLoad, below: Path
) -> None:
    before = measure.load_sweep(load.at, below, rates=[100, 200], repeats=3)
    watched, saved = Watched(), list[measure.LoadSweep]()
    more = measure.load_sweep(
        load.at,
        below,
        rates=[50, 100],
        watch=watched,
        resumed=before.saved(),
        so_far=saved.append,
    )
    assert watched.steps == ["50 operations/s"]
    for it in (saved[0], more):
        document = it.document
        assert [len(step["repetitions"]) for step in document["steps"]] == [1, 3, 3]
        assert document["wanted_repeats"] == 3
        assert document["steps"][1:] == before.document["steps"]
        for name in ("series", "counters", "histograms"):
            kept = getattr(it, name).filter(pl.col("step") != "50/s")
            assert kept.equals(getattr(before, name))
    assert more.document["stop"]["reason"] == "done"
    # The whole load sweep that was there is still gone on with.
    watched = Watched()
    measure.load_sweep(
        load.at, below, rates=[50, 100, 200], repeats=2, watch=watched, resumed=more.saved()
    )
    assert watched.steps == ["50 operations/s, repeat 2 of 2"]


def test_what_a_load_sweep_of_clients_has_stays_when_less_is_asked_for(
    load: measure.MixedLoad, below: Path
) -> None:
    options: dict[str, Any] = {"warm_up": 0.0}
    before = measure.client_sweep(load.with_processes, below, [2], repeats=2, **options)
    after = measure.client_sweep(load.with_processes, below, [1], resumed=before.saved(), **options)
    steps = after.document["steps"]
    assert [step["processes"] for step in steps] == [1, 2]
    assert steps[0]["efficiency"] == 1.0
    assert steps[1]["repetitions"] == before.document["steps"][0]["repetitions"]


def test_loads_of_other_processes_are_not_gone_on_with(
    load: measure.MixedLoad, below: Path
) -> None:
    before = measure.load_sweep(load.at, below, rates=[100]).saved()
    file = str(below.parent / "mix.toml")
    other = measure.MixedLoad(file, seconds=0.2, warm_up=0.0, processes=3)
    with pytest.raises(ValueError, match="with another workload"):
        measure.load_sweep(other.at, below, rates=[200], resumed=before)


@pytest.mark.parametrize("of", ["loads", "clients"])
def test_a_first_load_sweep_that_was_broken_off_is_no_whole_one(
    of: str, load: measure.MixedLoad, below: Path
) -> None:
    options: dict[str, Any] = {"repeats": 2, "watch": Watched(3)}
    if of == "loads":
        load_sweep = measure.load_sweep(load.at, below, rates=[100, 200, 400], **options)
    else:
        options |= {"warm_up": 0.0}
        load_sweep = measure.client_sweep(load.with_processes, below, [1, 2, 3], **options)
    assert load_sweep.document["stop"] == {"reason": "interrupted"}
    assert [len(it["repetitions"]) for it in load_sweep.document["steps"][:2]] == [1, 1]
    assert load_sweep.document["repetitions"] == []


def test_bytes_of_repeats_are_sums(load: measure.MixedLoad, below: Path) -> None:
    load_sweep = measure.load_sweep(load.at, below, rates=[100], repeats=2)
    (step,) = load_sweep.document["steps"]
    each = [it["cache"] for it in step["repetitions"]]
    assert step["cache"]["asked_bytes"] == sum(it["asked_bytes"] for it in each) > 0
    assert step["cache"]["asked_bytes"] == step["operations"]["read"]["bytes"]


def test_curves_of_several_sweeps_are_in_one_figure(load: measure.MixedLoad, below: Path) -> None:
    first = measure.load_sweep(load.at, below, rates=[50, 100]).keep(labels={"disk": "old"})
    second = measure.load_sweep(load.at, below, rates=[50, 100]).keep()
    plots = below.parent / "plots"
    done = command("results", "plot", first, second, "-o", plots)
    assert (done.returncode, done.stderr) == (0, "")
    picture = (plots / "load-sweeps.svg").read_text()
    assert first in picture and second in picture and "disk=old" in picture
    shown = hr.store.open().shown(second)
    overall, figure = shown.document["overall_response_s"], shown.figures
    # A busy machine may sustain no load.
    if overall is None:
        assert "overall response" not in figure
    else:
        assert figure["overall response"]["latency_mean_s"] == overall > 0
    other = measure.measure(load.at(50), below).keep()
    refused = command("results", "plot", first, other, "-o", plots)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"{other}: expected a mixed load at several loads" in refused.stderr
