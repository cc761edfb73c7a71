"""Each change of the advice, on operations and a machine whose gain can be calculated by hand."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import headrace as hr
from headrace.profile.advice import CHANGES, LEAST_GAIN, advise
from headrace.profile.advice.change import Context
from headrace.profile.document import Advice, Verdict
from headrace.profile.interval_means import mean_over_time, weighted_mean
from headrace.profile.paced_trace import with_gaps
from headrace.profile.phase_advice import Application, phase_case
from headrace.profile.prediction import Case
from headrace.trace.frames import SCHEMA

KIB, MIB = 1 << 10, 1 << 20
MILLISECOND = 1_000_000

PLAIN = """\
system = "ext4"

[machine.cpu]
system_call = "0 s"

[machine.copying]
page_in_l2 = "0 s"
page_in_memory = "0 s"

[machine.memory]
size = "1 GiB"

[machine.write_back]
bytes = "4 MiB"
background_bytes = "2 MiB"

[machine.file_system]
new_page = "0 s"
write_page = "0 s"
read_page = "0 s"
"""
SIMPLE = (
    PLAIN
    + """
[machine.device]
kind = "simple"
read_rate = "100 MB/s"
write_rate = "100 MB/s"
"""
)
"""A disk of 100 MB/s; processor time is negligible."""


def latent(**times: str) -> str:
    """A fast disk with times of its own."""
    fields = "\n".join(f'{name} = "{time}"' for name, time in times.items())
    return f'{PLAIN}\n[machine.device]\nkind = "throttled"\nrate = "10 GB/s"\n{fields}\n'


Row = tuple[str, str, int, int, float]
"""Operation, file, offset, size, and the gap before it in ms."""


def operations(rows: list[Row], processes: list[str] | None = None) -> pl.DataFrame:
    """Operations of a process, or of the one that `processes` names for each, with gaps."""
    clocks: dict[str, float] = {}
    table = []
    for (operation, file, offset, size, gap_ms), process in zip(
        rows, processes or ["a"] * len(rows), strict=True
    ):
        clocks[process] = clocks.get(process, 0.0) + gap_ms * MILLISECOND
        time = round(clocks[process])
        table.append((time, process, operation, file, offset, size, 0, "", ""))
    frame = pl.DataFrame(table, schema=dict.fromkeys(SCHEMA), orient="row", strict=False)
    return with_gaps(frame.cast(SCHEMA))


def copy(total: int, size: int, gap_ms: float = 0.0) -> list[Row]:
    """A copy of a file; each read and write comes after a gap."""
    return [
        (operation, file, offset, size, gap_ms)
        for offset in range(0, total, size)
        for operation, file in (("read", "in"), ("write", "out"))
    ]


def advice_of(
    case: Case,
    verdict: Verdict,
    cores: int = 2,
    baseline: Mapping[str, float] | None = None,
) -> dict[str, Advice]:
    advice, outcome, notes = advise(case, Context(verdict, cores, baseline or {}))
    assert outcome.error is None
    assert notes == []
    gains = [it.predicted_gain for it in advice]
    assert gains == sorted(gains, reverse=True)
    assert all(it > LEAST_GAIN for it in gains)
    return {it.change: it for it in advice}


def test_the_scenario_of_an_advice_is_saved_with_its_trace(tmp_path: Path) -> None:
    case = Case(SIMPLE, operations(copy(64 * MIB, MIB)), "compute")
    context = Context("rewrite", 2, {}, tmp_path, 3)
    (first, *_), _, _ = advise(case, context)
    assert first.scenario_file == f"advice/phase-3-{first.change}.toml"
    saved = tmp_path / first.scenario_file
    assert saved.read_text(encoding="utf-8") == first.scenario
    assert f'file = "phase-3-{first.change}.csv"' in saved.read_text(encoding="utf-8")
    assert "headrace-profile-" not in saved.read_text(encoding="utf-8")
    # It runs as it is, also elsewhere.
    moved = tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}-moved"))
    result = hr.run(hr.load(moved / first.scenario_file))
    before = advise(case, Context("rewrite", 2, {}))[1].seconds
    gain = before / result.document["simulated_seconds"] - 1
    assert gain == pytest.approx(first.predicted_gain, rel=0.01)


def test_means_are_those_of_the_time_in_which_a_figure_is_known() -> None:
    rates = pl.DataFrame({"from_s": [0, 1, 3, 4], "to_s": [1, 3, 4, 9], "a": [1.0, 4, None, None]})
    assert mean_over_time(rates, "a") == 3.0
    assert mean_over_time(rates[2:], "a") is None and mean_over_time(rates, "b") is None
    values = pl.Series([1.0, float("nan"), 3.0])
    assert weighted_mean(values, pl.Series([1.0, 9.0, 1.0])) == 2.0


def test_two_disks_double_a_copy_that_shares_the_disk() -> None:
    found = advice_of(Case(SIMPLE, operations(copy(64 * MIB, MIB)), "compute"), "rewrite")
    # Reads and writes take 64 MiB / 100 MB/s each: one after the other on one disk, less what is
    # dirty at the end.
    assert found["separate-disks"].predicted_gain == pytest.approx(1.0, abs=0.1)
    assert found["separate-disks"].kind == "hardware"
    assert found["faster-device"].predicted_gain == pytest.approx(1.0, abs=0.05)
    scenario = found["separate-disks"].scenario
    assert scenario is not None
    assert 'output_volume = "output"' in scenario


def test_striping_doubles_a_large_read() -> None:
    rows: list[Row] = [("read", "in", it * MIB, MIB, 0.0) for it in range(64)]
    found = advice_of(Case(SIMPLE, operations(rows), "compute"), "disk-read")
    assert found["striping"].predicted_gain == pytest.approx(1.0, abs=0.02)
    # A single large stream neither needs larger requests nor has anything to write.
    assert not {"larger-requests", "separate-disks", "threads"} & found.keys()


def test_fewer_syncs_save_their_flushes() -> None:
    rows: list[Row] = []
    for it in range(100):
        rows += [("write", "log", it * 4 * KIB, 4 * KIB, 0.0), ("sync", "log", 0, 0, 0.0)]
    found = advice_of(Case(latent(flush="5 ms"), operations(rows), "compute"), "latency")
    # A sync for ten writes: a tenth of the flushes, and nothing else takes time.
    assert found["fewer-syncs"].predicted_gain == pytest.approx(9.0, rel=0.05)
    assert "up to 9" in found["fewer-syncs"].description
    # Each write waits for the sync before it.
    assert "parallel-requests" not in found


def test_parallel_requests_overlap_latencies() -> None:
    # Far apart, so that nothing is read ahead.
    rows: list[Row] = [("read", "in", it * 7919 % 200 * MIB, 4 * KIB, 0.0) for it in range(200)]
    found = advice_of(Case(latent(latency="5 ms"), operations(rows), "compute"), "latency")
    assert found["parallel-requests"].predicted_gain == pytest.approx(3.0, rel=0.1)
    assert found["low-latency-device"].predicted_gain == pytest.approx(9.0, rel=0.1)
    # Half the latency.
    assert found["faster-device"].predicted_gain == pytest.approx(1.0, rel=0.1)


def test_larger_requests_save_calls() -> None:
    machine = SIMPLE.replace('system_call = "0 s"', 'system_call = "1 ms"')
    rows: list[Row] = [("read", "in", it * 4 * KIB, 4 * KIB, 0.0) for it in range(512)]
    case = Case(machine, operations(rows), "compute", cached=True)
    found = advice_of(case, "cpu")
    # 512 calls of 1 ms, or 2.
    assert found["larger-requests"].predicted_gain == pytest.approx(255.0, rel=0.02)
    assert "1 MiB at a time instead of 4 KiB" in found["larger-requests"].description


def test_blocks_save_the_time_of_characters() -> None:
    # A byte takes 20 ns to read and 20 ns to write, of which 10 % are the program's own.
    gap_ms = 4 * KIB * 20e-9 * 1e3
    rows = copy(8 * MIB, 4 * KIB, gap_ms)
    case = Case(latent(latency="0 s"), operations(rows), "compute", cached=True)
    baseline = {
        "character-read": 1 / (18e-9 + 1e-9),
        "cached-read": 1e9,
        "character-write": 1 / (18e-9 + 10e-9),
        "block-write": 1e8,
    }
    found = advice_of(case, "cpu", baseline=baseline)
    # A tenth is left; the disk takes 1 ms.
    assert found["block-io"].predicted_gain == pytest.approx(9.0, rel=0.05)
    # Without a baseline the share of the characters is unknown.
    assert "block-io" not in advice_of(case, "cpu")


def test_processors_shorten_computing_only() -> None:
    # 100 ms of computing for each 1 MiB that takes 10.5 ms of the disk, read ahead meanwhile.
    rows: list[Row] = [("read", "in", it * MIB, MIB, 100.0) for it in range(20)]
    found = advice_of(Case(SIMPLE, operations(rows), "compute"), "cpu", cores=4)
    assert found["parallel-computing"].predicted_gain == pytest.approx(3.0, rel=0.1)
    assert "4 threads" in found["parallel-computing"].description
    assert found["faster-processor"].predicted_gain == pytest.approx(1.0, rel=0.05)
    assert "parallel-computing" not in advice_of(
        Case(SIMPLE, operations(rows), "compute"), "cpu", cores=1
    )


def test_threads_overlap_computing_with_a_forced_write() -> None:
    rows: list[Row] = []
    for it in range(20):
        rows += [
            ("read", "in", it * MIB, MIB, 21.0),
            ("write", "out", it * MIB, MIB, 0.0),
            ("sync", "out", 0, 0, 0.0),
        ]
    case = Case(SIMPLE, operations(rows), "compute", cached=True)
    found = advice_of(case, "disk-write")
    # 21 ms of computing, then 10.5 ms of writing: the longer of both is left.
    assert found["threads"].predicted_gain == pytest.approx(0.5, abs=0.1)
    assert "threads" not in advice_of(case, "disk-write", cores=1)


def test_one_file_saves_the_names_of_many() -> None:
    machine = SIMPLE.replace("[machine.file_system]", '[machine.file_system]\nlookup = "5 ms"')
    rows: list[Row] = []
    for it in range(50):
        rows += [
            ("open", f"f{it}", 0, 0, 0.0),
            ("read", f"f{it}", 0, 4 * KIB, 0.0),
            ("close", f"f{it}", 0, 0, 0.0),
        ]
    # 50 lookups of 5 ms beside 2 ms of the disk, in which it reads ahead what comes next.
    case = Case(machine, operations(rows), "compute")
    assert 100 < advice_of(case, "metadata")["fewer-files"].predicted_gain < 150
    few = Case(machine, operations(rows[:30]), "compute")
    assert "fewer-files" not in advice_of(few, "metadata")


def test_one_file_is_synced_once_if_the_many_were() -> None:
    rows: list[Row] = []
    for it in range(50):
        rows += [("write", f"f{it}", 0, 4 * KIB, 0.0), ("sync", f"f{it}", 0, 0, 0.0)]
    found = advice_of(Case(latent(flush="5 ms"), operations(rows), "compute"), "metadata")
    assert found["fewer-files"].predicted_gain == pytest.approx(49.0, rel=0.05)
    never = [it for it in rows if it[0] == "write"]
    case = Case(latent(flush="5 ms"), operations(never), "compute")
    assert "fewer-files" not in advice_of(case, "metadata")


def test_memory_that_suffices_gives_no_advice() -> None:
    case = Case(SIMPLE, operations(copy(16 * MIB, MIB)), "compute")
    assert "more-memory" not in advice_of(case, "rewrite")


def test_a_gain_of_less_than_five_percent_is_no_advice() -> None:
    # 10.5 ms of the disk in a second, which nothing overlaps.
    rows: list[Row] = [("read", "in", it * 100 * MIB, MIB, 1000.0) for it in range(5)]
    case = Case(SIMPLE, operations(rows), "wait")
    assert advice_of(case, "disk-read") == {}


def test_a_waiting_phase_gets_no_advice() -> None:
    rows: list[Row] = [("read", "in", it * MIB, MIB, 0.0) for it in range(20)]
    assert advice_of(Case(SIMPLE, operations(rows), "wait"), "waiting") == {}
    assert not [it.name for it in CHANGES if "waiting" in it.verdicts]


def test_a_change_that_cannot_be_simulated_is_named() -> None:
    rows: list[Row] = [("read", "in", it * MIB, MIB, 0.0) for it in range(20)]
    case = Case(SIMPLE, operations(rows), "compute", sets={})
    broken = case.with_sets({"machine.nothing": 1})
    with pytest.raises(ValueError, match="nothing"):
        advise(broken, Context("disk-read", 2, {}))


def sampled(seconds: float, **columns: float) -> pl.DataFrame:
    named = {f"tree.{name}": [value] for name, value in columns.items()}
    return pl.DataFrame({"from_s": [0.0], "to_s": [seconds], **named})


def traced_case(rows: list[Row], tracer_s: float, **columns: float) -> Case:
    records = operations(rows)
    length_s = float(records["time_ns"].max()) / 1e9  # type: ignore[arg-type]
    rates = sampled(length_s, **columns)
    application = Application(records, rates, SIMPLE, 2, {}, tracer_s)
    return phase_case(records, rates, application, length_s)


def gaps_s(case: Case) -> float:
    return float(case.records["gap_ns"].sum()) / 1e9


GAPS_OF_10_MS: list[Row] = [("read", "in", it * MIB, MIB, 10.0) for it in range(101)]


def test_gaps_are_reduced_to_the_sampled_processor_time() -> None:
    # Of each 10 ms, the tracer is known for 2 ms, and the program computes for 5 ms.
    case = traced_case(GAPS_OF_10_MS, 2e-3, user=0.5)
    assert case.gaps == "compute"
    assert gaps_s(case) == pytest.approx(0.5 * 1.01, rel=0.01)


def test_sleep_stays_in_the_gaps_of_a_program_that_computes() -> None:
    case = traced_case(GAPS_OF_10_MS, 0.0, user=0.5, sleeping=0.3)
    assert case.gaps == "compute"
    assert gaps_s(case) == pytest.approx(0.8 * 1.01, rel=0.01)


def test_gaps_of_a_sleeper_stay_waits() -> None:
    case = traced_case(GAPS_OF_10_MS, 1e-3, user=0.1, sleeping=0.9)
    assert case.gaps == "wait"
    # The first gap has no call before it, and thus no tracer.
    assert gaps_s(case) == pytest.approx(1.01 - 100e-3, rel=0.01)


def test_waits_for_a_core_leave_the_gaps_of_a_program_that_waits_for_storage() -> None:
    case = traced_case(GAPS_OF_10_MS, 0.0, user=0.01, sleeping=0.05)
    assert case.gaps == "wait"
    assert gaps_s(case) == pytest.approx(0.06 * 1.01, rel=0.01)
    # Without samples of threads nothing is known of the gaps.
    assert gaps_s(traced_case(GAPS_OF_10_MS, 0.0)) == pytest.approx(1.01, rel=0.01)


def test_the_scenario_of_an_advice_has_the_change() -> None:
    found = advice_of(Case(SIMPLE, operations(copy(16 * MIB, MIB)), "compute"), "rewrite")
    scenario = found["faster-device"].scenario
    assert scenario is not None
    device = tomllib.loads(scenario)["machine"]["device"]
    assert (device["read_rate"], device["write_rate"]) == ("200 MB/s", "200 MB/s")
