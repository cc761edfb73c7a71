"""Load sweeps: which loads are measured, where the knee is, and the command."""

import json
import math
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace.measure as measure
from command import command, without_need
from headrace.measure import cache
from headrace.measure.cache import Reads
from headrace.measure.load_search import search
from headrace.measure.load_sweep import (
    Findings,
    findings_of_points,
    knee,
    overall_response,
)
from headrace.measure.sweep_steps import LoadPoint

WORKLOAD = """
[clients]
count = 1
processes = 4
[[workload]]
kind = "operation-mix"
weights = { read = 3, write = 1, stat = 4, create = 1, unlink = 1 }
files = 50
file_sizes = { "4 KiB" = 1, "64 KiB" = 1 }
append_share = 0.8
"""


@given(capacity=st.floats(1.0, 1e6), start=st.floats(0.1, 1e6), refinements=st.integers(0, 6))
def test_the_search_encloses_the_largest_load_that_is_kept_up_with(
    capacity: float, start: float, refinements: int
) -> None:
    tried: list[float] = []

    def keeps_up(load: float) -> bool:
        tried.append(load)
        return load <= capacity

    search(keeps_up, start, refinements)
    good = max(load for load in tried if load <= capacity)
    bad = min(load for load in tried if load > capacity)
    # Two loads a factor of 2 apart, halved so often; three digits are kept.
    assert bad / good <= 2 ** (0.5**refinements) * 1.02
    assert len(tried) == len(set(tried))


@pytest.mark.parametrize("verdict", [True, False])
def test_a_search_that_finds_no_end_ends(verdict: bool) -> None:
    tried: list[float] = []

    def keeps_up(load: float) -> bool:
        tried.append(load)
        return verdict

    search(keeps_up, 100, 4)
    assert 10 < len(tried) < 20 and max(tried) <= 1e7 and min(tried) >= 0.01


def test_the_knee_of_a_known_curve() -> None:
    # M/M/1 with 1,000 operations/s: response 1/(1000 - load). Between 0 and 990 the point
    # farthest from the chord is where the slope is the chord's: 1000 - sqrt(1000 * 10).
    loads = list(range(0, 991, 10))
    place = knee(loads, [1 / (1000 - load) for load in loads])
    assert place is not None and abs(loads[place] - (1000 - math.sqrt(1000 * 10))) <= 10
    # Three lines' corner, and curves without a knee.
    assert knee([1, 2, 3, 4], [1, 1, 1, 10]) == 2
    assert knee([1, 2, 3], [1, 2, 3]) is None
    assert knee([1, 2, 3], [1, 3, 4]) is None
    assert knee([1, 2], [1, 3]) is None


def found(*steps: tuple[float, float, float, bool]) -> Findings:
    """Findings of steps of requested and achieved load, response time, and whether it is
    sustained."""
    points = [LoadPoint(requested, achieved, mean) for requested, achieved, mean, _ in steps]
    return findings_of_points(points, [sustained for *_, sustained in steps])


def test_findings_end_at_the_first_load_that_is_not_kept_up_with() -> None:
    steps = [
        (100, 100, 0.001, True),
        (200, 200, 0.001, True),
        (400, 300, 0.5, False),
        # By chance, as what follows what stays behind may be.
        (800, 800, 0.001, True),
    ]
    all_of_them = found(*steps)
    for point, requested in (
        (all_of_them.knee, 200),
        (all_of_them.kept_up, 200),
        (all_of_them.cut_off, 400),
    ):
        assert point is not None and point.requested_per_second == requested
    assert all_of_them.achieved_at_most_per_second == 800
    assert found(*steps[:2]).knee is None and found(*steps[:2]).cut_off is None
    assert found().kept_up is None


def test_the_overall_response_time_is_the_area_under_the_curve_by_the_largest_load() -> None:
    # 100 at 1 ms, then to 3 ms at 300: (100 * 1 + 200 * (1 + 3) / 2) / 300 = 5/3 ms.
    assert overall_response([(300.0, 3e-3), (100.0, 1e-3)]) == pytest.approx(5e-3 / 3)
    assert overall_response([(50.0, 2e-3)]) == pytest.approx(2e-3)
    assert overall_response([]) is None and overall_response([(0.0, 1e-3)]) is None
    steps = [(100, 100, 0.001, True), (300, 300, 0.003, True), (400, 350, 1.0, False)]
    assert found(*steps).overall_response_s == pytest.approx(5e-3 / 3)
    assert found(*steps[2:]).overall_response_s is None


def mix(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command("bench", "mix", *arguments, timeout=300)


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    file = tmp_path / "workload.toml"
    file.write_text(WORKLOAD)
    return file


SHORT = ("--time", "0.4", "--warm-up", "0.1", "--json")


def test_the_command_prints_one_document_of_all_steps(workload: Path, below: Path) -> None:
    plots = workload.parent / "plots"
    chosen = ("--workload", str(workload), "--rates", "200,50")
    done = mix(str(below), *chosen, *SHORT, "--plot", str(plots))
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    document = json.loads(done.stdout)
    assert [step["requested_per_second"] for step in document["steps"]] == [50, 200]
    for one in document["steps"]:
        assert one["operations"]["read"]["count"] > 0
        assert one["files"]["bytes"] >= 25 * (4 + 64) * 1024
        # Who waits for a process is not in the service time.
        assert one["response"]["mean"] >= one["service"]["mean"]
    assert (plots / "load-sweep.png").stat().st_size > 1000
    assert list(below.iterdir()) == []


def test_what_is_no_mix_is_refused(tmp_path: Path, below: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text('[clients]\ncount = 1\n[[workload]]\nblock = "1 MiB"\n')
    for *arguments, told in (
        ("--workload", "mpsf", "--workload mpsf: "),
        ("--workload", str(other), f"--workload {other}: expected a scenario"),
        ("--rates", "100,-1", '--rates "100,-1": '),
        ("--rates", "much", '--rates "much": '),
        ("--start", "inf", "--start inf: "),
        ("--time", "1e30", """headrace bench mix: Invalid value for '--time': "1e30": expected"""),
        ("--warm-up", "inf", """headrace bench mix: Invalid value for '--warm-up': "inf": """),
        ("--processes", "100000000", "--processes 100000000: "),
        ("--set", "clients.processes=0", "--set clients.processes=0: "),
    ):
        done = mix(str(below), *SHORT, *arguments)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.startswith(told)
    assert list(below.iterdir()) == []


def test_a_mix_without_calls_goes_on_to_the_engines_own_limit(workload: Path, below: Path) -> None:
    mixed = measure.MixedLoad(str(workload), seconds=0.1, warm_up=0.0, sets=["run.seed=3"])
    load_sweep = measure.load_sweep(mixed.at, below, rates=[500], calls="null")
    assert not load_sweep.partial
    assert load_sweep.document["seed"] == 3
    assert load_sweep.document["steps"][0]["processes"] == 4


def test_more_clients_than_processors_are_told(workload: Path, below: Path) -> None:
    plots = workload.parent / "plots"
    chosen = ("--workload", str(workload), "--clients", "1,999", "--plot", str(plots))
    refused = mix(str(below), *chosen, "--rates", "100")
    assert refused.returncode == 2 and "--clients" in refused.stderr
    done = mix(str(below), "--workload", str(workload), "--clients", "1,64", *SHORT)
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    document = json.loads(done.stdout)
    first, second = document["steps"]
    assert (first["processes"], second["processes"]) == (1, 64)
    assert second["oversubscribed"] == (document["cores"] < 64)
    assert first["speedup"] == first["efficiency"] == 1.0
    assert second["speedup"] == second["operations_per_second"] / first["operations_per_second"]
    assert list(below.iterdir()) == []


def test_reads_of_what_was_just_written_hit_the_cache() -> None:
    read = Reads(4_000_000, 1_000_000)
    assert cache.cache(read, "sda").hit_rate == 0.75
    assert cache.cache(Reads(1000, 0), "sda").hit_rate is None
    ahead = cache.cache(Reads(10_000_000, 15_000_000), "sda")
    assert ahead.hit_rate is None and "read ahead" in str(ahead.note)
    assert cache.cache(None, "sda").note and cache.cache(read, None).note
    before = cache.reads_now()
    if before is None:
        pytest.skip("the kernel does not count the bytes that processes read")
    since = cache.reads_since(before)
    assert since is not None and since.asked >= 0
