"""Watchers of jobs."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from headrace.progress_events import Progress
from headrace.web.jobs import Job, JobState
from headrace.web.jobs.directory import JobDirectory
from headrace.web.jobs.watch import MOST_MOMENTS, JobView, Watches
from headrace.web.live_figures import charts_of
from test_web_queue import a_queue, a_store, begins, simulation

__all__ = ["a_store"]


def in_a_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a thread: the browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


def test_watchers_share_one_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = 0
    read_log = JobDirectory.log

    def counted(directory: JobDirectory) -> str:
        nonlocal readings
        readings += 1
        return read_log(directory)

    monkeypatch.setattr(JobDirectory, "log", counted)
    with a_queue(tmp_path) as queue:
        job = queue.submit(simulation(), "ann")
        begins(queue, job.id)
        (queue.directory(job.id).path / "log.txt").write_text("one line\n")
        before = readings

        async def watch() -> None:
            watches = Watches(queue)
            seen: list[list[int]] = [[] for _ in range(50)]
            ends = []
            for versions in seen:

                def note(view: JobView, versions: list[int] = versions) -> None:
                    versions.append(view.version)

                ends.append(await watches.begin(job, note))
            while any(versions[-1] < 3 for versions in seen):
                await asyncio.sleep(0.1)
            assert len(watches) == 1
            for end in ends:
                end()
                end()
            assert len(watches) == 0

        in_a_loop(watch())
        assert readings - before == 1


def test_a_watcher_that_fails_disturbs_no_other(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        job = queue.submit(simulation(), "ann")

        async def watch() -> None:
            watches = Watches(queue)
            states: list[JobState] = []

            def fails(view: JobView) -> None:
                raise RuntimeError("a browser has gone")

            await watches.begin(job, fails)
            await watches.begin(job, lambda view: states.append(view.job.state))
            queue.cancel(job.id)
            while states[-1] is not JobState.CANCELLED:
                await asyncio.sleep(0.1)

        in_a_loop(watch())


def test_figures_over_time_are_thinned_out() -> None:
    view = JobView(Job("a", "ann", simulation(), 0.0))
    for number in range(10_000):
        view.add(Progress(float(number), figures={"IOPS": number}))
    times = [it.time for it in view.moments]
    assert len(times) <= MOST_MOMENTS and times[0] == 0.0 and times[-1] == 9999.0
    assert times == sorted(times)


def test_the_time_left_follows_from_the_fraction() -> None:
    job = Job("a", "ann", simulation(), 0.0, state=JobState.RUNNING, started=100.0, ended=130.0)
    view = JobView(job, latest=Progress(130.0, done=3, total=4))
    assert view.seconds_left == pytest.approx(10.0)
    assert JobView(job, latest=Progress(130.0, done=3)).seconds_left is None


def test_jobs_are_bars_and_no_curve_of_load() -> None:
    jobs = [
        Progress(float(n), text=name, figures={"step": n, "requested": None} | figures)
        for n, name, figures in [
            (1, "read", {"achieved": 9000.0, "MB/s": 36.0, "latency": 0.0001}),
            (2, "write", {"achieved": 200.0, "MB/s": 0.8, "latency": 0.005}),
        ]
    ]
    found = charts_of([], jobs)
    assert list(found) == [
        "Finished steps: achieved",
        "Finished steps: MB/s",
        "Finished steps: latency (ms)",
    ]
    for _, _, series, kind in found.values():
        assert kind == "category" and [it.kind for it in series] == ["bar"]
        assert list(series[0].x) == ["1: read", "2: write"]


def test_charts_of_a_load_sweep_and_of_a_study() -> None:
    loads = [
        Progress(
            float(n),
            figures={"step": n, "requested": r, "achieved": a, "latency": s, "processes": 16},
        )
        for n, r, a, s in [
            (1, 100.0, 99.0, 0.002),
            (2, 400.0, 300.0, 0.02),
            (3, 200.0, 198.0, 0.004),
        ]
    ]
    found = charts_of([], loads)
    assert list(found) == ["Latency against load", "Achieved against requested load"]
    _, _, series, _ = found["Latency against load"]
    assert list(series[0].x) == [99.0, 198.0, 300.0]
    assert list(series[0].y) == pytest.approx([2.0, 4.0, 20.0])
    points = [
        Progress(1.0, text="4 KiB", figures={"step": 1, "block": 4096, "write (MB/s)": 5.0}),
        Progress(2.0, text="8 KiB", figures={"step": 2, "block": 8192, "read (MB/s)": 6.0}),
    ]
    x, y, series, kind = charts_of([], points)["Finished steps: MB/s"]
    assert (x, y, kind) == ("step", "MB/s", "category")
    assert [(it.name, list(it.x), list(it.y)) for it in series] == [
        ("write", ["1: 4 KiB"], [5.0]),
        ("read", ["2: 8 KiB"], [6.0]),
    ]
    assert {it.kind for it in series} == {"bar"}
    moments = [Progress(5.0, figures={"seconds": 1.0, "latency": 0.5, "IOPS": 3})]
    assert list(charts_of(moments, [])) == ["latency (ms) over time", "IOPS over time"]


def test_changes_of_a_study_are_bars_in_mb_a_second() -> None:
    changes = [
        Progress(float(n), text=f"servers.count={n}", figures={"step": n, "throughput": 5e8 * n})
        for n in (1, 2)
    ]
    (drawn,) = charts_of([], changes).values()
    _, unit, (series,), kind = drawn
    assert (unit, series.kind, kind) == ("throughput (MB/s)", "bar", "category")
    assert list(series.y) == [500.0, 1000.0]
