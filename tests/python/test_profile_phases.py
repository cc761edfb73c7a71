"""Phases: levels of a run that are known by construction."""

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.profile.phases import phases, segments
from profile_frames import frame

SPIN = {"tree.user": 1.0, "tree.busiest_thread": 1.0, "tree.running": 1.0}
WRITE = {"disk.sda.write_bytes_per_s": 40e6, "tree.disk_wait": 1.0, "tree.system": 0.1}
START = {"tree.user": 0.4, "disk.sda.read_bytes_per_s": 8e6}


@pytest.mark.parametrize("level", [{}, SPIN, WRITE])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("count", [1, 5, 6, 10, 60, 500])
def test_one_level_is_one_phase(level: dict[str, float], noise: float, count: int) -> None:
    assert phases(frame((count, level), noise=noise)) == [(0, count)]


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
@pytest.mark.parametrize(("first", "second"), [(5, 5), (10, 30), (200, 300)])
def test_two_levels_are_two_phases_with_the_change_at_its_row(
    noise: float, first: int, second: int
) -> None:
    found = phases(frame((first, SPIN), (second, WRITE), noise=noise))
    assert len(found) == 2
    assert abs(found[0][1] - first) <= 1


def test_levels_of_one_kind_of_work_are_phases_too() -> None:
    slow = {"disk.sda.read_bytes_per_s": 10e6}
    fast = {"disk.sda.read_bytes_per_s": 100e6}
    found = phases(frame((20, slow), (20, fast), (20, slow), noise=0.05))
    assert [it[0] for it in found] == [0, 20, 40]


@pytest.mark.parametrize("short", [1, 2])
def test_a_short_start_and_end_are_no_phases(short: int) -> None:
    assert phases(frame((short, START), (30, SPIN), (short, {}))) == [(0, 30 + 2 * short)]


def test_the_shortest_phase_is_two_seconds_at_any_interval() -> None:
    one_second = frame((10, WRITE), (40, SPIN), interval_s=0.1)
    assert phases(one_second) == [(0, 50)]
    assert len(phases(frame((30, WRITE), (40, SPIN), interval_s=0.1))) == 2


def test_write_back_in_bursts_is_one_phase() -> None:
    """Write-back wakes every 5 s (vm.dirty_writeback_centisecs)."""
    bursts = [80e6 if it % 5 == 0 else 0.0 for it in range(60)]
    assert len(phases(frame((60, SPIN | {"disk.sda.write_bytes_per_s": 0.0})))) == 1
    assert len(phases(frame((60, SPIN | {"disk.sda.write_bytes_per_s": bursts})))) == 1


def test_other_disks_make_no_phases() -> None:
    other = {"disk.sdb.write_bytes_per_s": 90e6}
    rates = frame((20, SPIN), (20, SPIN | other))
    assert len(phases(rates)) == 2
    assert phases(rates, disks=["sda"]) == [(0, 40)]


def test_no_row_is_no_phase() -> None:
    assert phases(frame((0, {}))) == []


def test_unknown_values_and_missing_columns_are_accepted() -> None:
    rates = frame((10, SPIN), (10, WRITE)).with_columns(pl.lit(None).alias("tree.io_wait"))
    assert len(phases(rates)) == 2
    assert phases(rates.select("from_s", "to_s")) == [(0, 20)]
    gap = rates.with_columns(
        pl.when(pl.col("from_s") == 4.0)
        .then(None)
        .otherwise(pl.col("tree.user"))
        .alias("tree.user")
    )
    assert len(phases(gap)) == 2


def test_a_day_of_samples_is_searched_in_bounded_time() -> None:
    found = phases(frame((40_000, SPIN), (46_400, WRITE), noise=0.1))
    assert len(found) == 2
    assert abs(found[0][1] - 40_000) <= 100


@given(st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_phases_cover_every_row_once(lengths: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = [
        (it, {"tree.user": random.random(), "disk.sda.read_bytes_per_s": 1e8 * random.random()})
        for it in lengths
    ]
    rates = frame(*levels, noise=0.1, seed=seed)
    found = phases(rates)
    assert [row for first, end in found for row in range(first, end)] == list(range(rates.height))
    assert len(found) == 1 or all(end - first >= 3 for first, end in found)


def divisions(count: int, shortest: int) -> Iterator[list[tuple[int, int]]]:
    """Yield every division of `count` rows into ranges of at least `shortest` rows."""
    for cuts in range(count // shortest):
        for ends in itertools.combinations(range(1, count), cuts):
            ranges = list(itertools.pairwise([0, *ends, count]))
            if all(end - start >= shortest for start, end in ranges):
                yield ranges


@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=3, max_size=10),
    st.integers(1, 3),
    st.sampled_from([0.5, 2.0, 10.0]),
)
def test_no_other_division_fits_better(
    rows: list[tuple[int, int]], shortest: int, penalty: float
) -> None:
    values = np.array(rows, dtype=float)

    def cost(ranges: list[tuple[int, int]]) -> float:
        parts: list[npt.NDArray[np.float64]] = [values[start:end] for start, end in ranges]
        return sum(float(np.sum((it - it.mean(axis=0)) ** 2)) + penalty for it in parts)

    best = min(cost(it) for it in divisions(len(values), shortest))
    found = segments(values, shortest, penalty)
    assert found in divisions(len(values), shortest)
    assert cost(found) == pytest.approx(best)
