"""The history of monitors: thinning, crashes, and its bounds."""

import math
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.monitors.history import (
    DAY,
    HOUR,
    LEVELS,
    Event,
    History,
    Row,
)
from headrace.monitors.host_sampler import Sample

BEGIN = 1_700_000_000.0 - 1_700_000_000.0 % 900
VALUE = st.one_of(
    st.floats(-1e6, 1e6, width=32, allow_subnormal=False),
    st.sampled_from([0.0, 1.0, 1e-30, math.nan, 1e12]),
)


@st.composite
def recordings(draw: st.DrawFn) -> list[Sample]:
    """Samples of different lengths with gaps, unknown figures and devices that come and go."""
    samples, end = [], BEGIN
    for number in range(draw(st.integers(1, 60))):
        seconds = draw(st.sampled_from([0.1, 0.5, 1.0, 7.0, 45.0]))
        end += seconds + draw(st.sampled_from([0.0, 0.0, 0.0, 3.0, 70.0, 1000.0]))
        names = draw(st.sets(st.sampled_from(["a", "b", "disk.x.y"]), min_size=1))
        figures = {it: draw(VALUE) for it in sorted(names)}
        samples.append(Sample(number, end, seconds, figures))
    return samples


def weighted(samples: Sequence[Sample], name: str) -> tuple[float, float, float, float]:
    """Return mean, smallest, largest and known time of a figure, the slow way."""
    every = [(it.figures.get(name, math.nan), it.seconds) for it in samples]
    known = [(float(np.float32(value)), seconds) for value, seconds in every if value == value]
    time = sum(seconds for _, seconds in known)
    if not known:
        return math.nan, math.nan, math.nan, 0.0
    mean = math.fsum(value * seconds for value, seconds in known) / time
    return mean, min(it for it, _ in known), max(it for it, _ in known), time


def check_row(row: Row, samples: Sequence[Sample]) -> None:
    names = {name for it in samples for name in it.figures}
    assert set(row.names) == names
    assert row.seconds == pytest.approx(sum(it.seconds for it in samples), rel=1e-6)
    for at, name in enumerate(row.names):
        mean, smallest, largest, known = weighted(samples, name)
        found = row.values[:, at]
        assert found[3] == pytest.approx(known, rel=1e-5)
        if known == 0:
            assert np.isnan(found[:3]).all()
            continue
        assert found[1] <= found[0] <= found[2]
        assert (found[1], found[2]) == (np.float32(smallest), np.float32(largest))
        # Values of different signs cancel: the error is relative to the largest.
        scale = max(abs(smallest), abs(largest))
        assert abs(found[0] - mean) <= 1e-5 * scale


@settings(max_examples=60, deadline=None)
@given(recordings(), st.data())
def test_every_level_has_the_means_of_its_samples(
    samples: list[Sample], data: st.DataObject
) -> None:
    """Means of means are means, smallest <= mean <= largest, and no sample is lost, however the
    samples are divided into calls and whether the server starts again between them."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "history.sqlite"
        history = History(path)
        rest = list(samples)
        while rest:
            size = data.draw(st.integers(1, 20))
            history.append("host", rest[:size], now=rest[0].end)
            rest = rest[size:]
            if data.draw(st.integers(0, 5)) == 0:
                history.close()
                history = History(path)
        newest = samples[-1].end
        for level, (width, _) in enumerate(LEVELS[1:], 1):
            expected: dict[float, list[Sample]] = defaultdict(list)
            for it in samples:
                expected[math.floor(it.end / width) * width].append(it)
            # An interval is made when it has ended.
            complete = {at: of for at, of in expected.items() if at + width <= newest}
            rows = {it.time: it for it in history.rows("host", 0, 1e12, level)}
            assert set(rows) == set(complete), f"level {level}"
            for at, row in rows.items():
                check_row(row, complete[at])
        history.close()


def test_rows_are_dropped_at_their_age_and_live_on_as_means(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    for at in range(0, int(2 * DAY), 20):
        end = BEGIN + at
        history.append("host", [Sample(at, end, 20.0, {"x": float(at)})], now=end)
    now = BEGIN + 2 * DAY - 20
    for level, (width, age) in enumerate(LEVELS):
        rows = history.rows("host", 0, 1e12, level)
        oldest = max(now - age, BEGIN)
        assert oldest - 900 - 60 <= rows[0].time <= oldest + 60, f"level {level}"
        assert len(rows) <= age / max(width, 20) + 100
    # All of the two days is in the last level.
    means = history.rows("host", 0, 1e12, 3)
    assert sum(it.seconds for it in means) >= 2 * DAY - 2 * 900
    history.close()


def test_what_was_not_made_before_a_long_stop_is_made_before_it_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    history = History(path)
    samples = [Sample(it, BEGIN + it + 1, 1.0, {"x": 2.0}) for it in range(5)]
    history.append("host", samples, now=BEGIN + 5)
    assert history.rows("host", 0, 1e12, 1) == []
    history.close()
    history = History(path)
    later = BEGIN + 5 * HOUR
    history.append("other", [Sample(1, later, 1.0, {"x": 1.0})], now=later)
    assert history.rows("host", 0, 1e12, 0) == []
    (row,) = history.rows("host", 0, 1e12, 1)
    assert (row.seconds, row.values[0, 0]) == (5.0, 2.0)
    history.close()


def test_samples_that_come_late_change_the_means_that_they_belong_to(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    history.append("host", [Sample(1, BEGIN + 3, 1.0, {"x": 1.0})], now=BEGIN + 3)
    # The agent was not reached for a while, then sent all that it had saved.
    late = [Sample(it, BEGIN + 2 + it, 1.0, {"x": 4.0}) for it in range(2, 60)]
    history.append("host", late, now=BEGIN + 61)
    first = history.rows("host", 0, 1e12, 1)[0]
    assert first.time == BEGIN
    assert first.values[0, 0] == pytest.approx((1 + 6 * 4) / 7)
    assert history.append("host", late, now=BEGIN + 62) == []
    history.close()


def test_a_clock_that_was_set_back_does_not_stop_the_history(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    future = [Sample(it, BEGIN + DAY + it, 1.0, {"x": 9.0}) for it in range(100)]
    history.append("host", future, now=BEGIN + DAY)
    present = [Sample(it, BEGIN + it, 1.0, {"x": 1.0}) for it in range(30)]
    assert len(history.append("host", present, now=BEGIN + 30)) == 30
    assert history.newest("host") == BEGIN + 29
    # An agent that sends its whole buffer once more changes nothing.
    assert history.append("host", present[:5], now=BEGIN + 200) == []
    assert history.newest("host") == BEGIN + 29
    history.close()


WRITER = """
import sys
from headrace.monitors.history import History
from headrace.monitors.host_sampler import Sample
from pathlib import Path
history = History(Path(sys.argv[1]))
for number in range(10**9):
    figures = {f"disk.{at}.x": float(number) for at in range(50)}
    history.append("host", [Sample(number, 1.7e9 + number, 1.0, figures)], now=1.7e9 + number)
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_all_that_it_had_returned_from(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    for wanted in (1, 25, 130):
        path.unlink(missing_ok=True)
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        last = next(int(line) for line in writer.stdout if int(line) >= wanted)
        os.kill(writer.pid, signal.SIGKILL)
        last = max([last, *(int(it) for it in writer.stdout.read().split("\n")[:-1])])
        writer.wait()
        history = History(path)
        rows = history.rows("host", 0, 1e12, 0)
        assert [it.time for it in rows][: last + 1] == [1.7e9 + it for it in range(last + 1)]
        means = history.rows("host", 0, 1e12, 1)
        assert [it.values[0, 0] for it in means] == [4.5 + 10 * it for it in range(len(means))]
        assert len(means) == len(rows) // 10 - (len(rows) % 10 == 0)
        history.close()
        check = sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()
        assert check == ("ok",)


def test_the_file_stays_below_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    limit = 1 << 20
    history = History(path, most_bytes=limit)
    figures = {f"disk.{at}.x": 1.0 + at for at in range(400)}
    for at in range(4000):
        end = BEGIN + at
        history.append("host", [Sample(at, end, 1.0, figures)], now=end)
    # Between two looks it may grow by a minute's samples.
    assert path.stat().st_size < 1.5 * limit
    assert history.newest("host") == BEGIN + 3999
    history.close()


def test_events_are_saved_and_the_oldest_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.monitors.history.MOST_EVENTS", 5)
    history = History(tmp_path / "history.sqlite")
    for at in range(9):
        history.add_event(Event("host", BEGIN + at, "disk", "sda", "warning", "ok", f"<b>{at}"))
    assert [it.text for it in history.events()] == [f"<b>{at}" for at in (8, 7, 6, 5, 4)]
    assert history.events("other") == []
    assert [it.time for it in history.events("host", BEGIN + 7)] == [BEGIN + 8, BEGIN + 7]
    history.close()


def test_a_removed_host_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    history = History(path)
    for host in ("one", "two"):
        history.append(host, [Sample(1, BEGIN, 1.0, {"x": 1.0})], now=BEGIN)
        history.add_event(Event(host, BEGIN, "disk", "", "ok", "ok", ""))
    history.remove("one")
    assert history.hosts() == ["two"]
    assert history.rows("one", 0, 1e12, 0) == []
    assert [it.host for it in history.events()] == ["two"]
    history.close()


@pytest.mark.parametrize("content", [b"no database at all, but a text" * 100, b"SQLite format 3\0"])
def test_a_file_that_is_no_history_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(content)
    with pytest.raises((ValueError, OSError), match="history.sqlite"):
        History(path)
    assert path.read_bytes() == content


def test_a_history_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    History(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(ValueError, match="newer version"):
        History(path)
