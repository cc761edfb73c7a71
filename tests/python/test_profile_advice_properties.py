"""Properties of each change of the advice, on random operations and machines."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace.profile.advice import CHANGES, LEAST_GAIN, advise
from headrace.profile.advice.change import Change, Context
from headrace.profile.document import VERDICTS
from headrace.profile.paced_trace import write_paced
from headrace.profile.prediction import Case, simulate
from test_profile_advice import KIB, MIB, SIMPLE, Row, latent, operations

BASELINE = {
    "character-read": 40e6,
    "cached-read": 2e9,
    "character-write": 30e6,
    "block-write": 1e8,
}
COMPUTING = {"parallel-computing", "faster-processor", "block-io"}
"""Changes that shorten computing."""
TOUCHED = {"fewer-syncs": {"sync"}, "parallel-computing": set[str]()}
"""Operations that a change shortens, if these are not all."""
MACHINES = (
    SIMPLE,
    latent(latency="1 ms"),
    latent(flush="5 ms"),
    latent(latency="0.2 ms", flush="2 ms"),
)
PATTERNS = ("read", "write", "copy", "sync", "many", "random")
LAST = {
    "block-io": "copy",
    "larger-requests": "read",
    "threads": "copy",
    "parallel-requests": "random",
    "fewer-syncs": "sync",
    "fewer-files": "many",
    "separate-disks": "copy",
}
"""Last operations, to which a change applies."""
SIZES = (512, 4 * KIB, 64 * KIB, MIB)


@st.composite
def cases(draw: st.DrawFn, last: str | None = None) -> Case:
    """Runs of like operations on files of their own or of one kind, after like gaps."""
    rows: list[Row] = []
    ends: dict[str, int] = {}
    patterns = draw(
        st.lists(st.sampled_from(PATTERNS), min_size=last is None, max_size=1 if last else 2)
    )
    for run, pattern in enumerate([*patterns, *([last] if last else [])]):
        size = draw(st.sampled_from(SIZES))
        gap_ms = draw(st.sampled_from([0.0, 0.05, 20.0]))
        for number in range(draw(st.sampled_from([60, 30, 7, 1]))):
            name = f"d/file-{number}.txt" if pattern == "many" else f"run-{run}"
            if pattern == "many":
                rows.append(("open", name, 0, 0, gap_ms))
            for operation, file in {
                "read": [("read", name)],
                "write": [("write", name)],
                "copy": [("read", name), ("write", f"{name}.out")],
                "sync": [("write", name), ("sync", name)],
                "many": [("write", name), ("sync", name), ("close", name)],
                "random": [("read", name)],
            }[pattern]:
                offset = number * 7919 % 200 * MIB if pattern == "random" else ends.get(file, 0)
                is_data = operation in ("read", "write")
                rows.append((operation, file, offset if is_data else 0, size * is_data, gap_ms))
                ends[file] = ends.get(file, 0) + size * is_data
    processes = draw(st.sampled_from([["a"] * len(rows), [f"{n % 2}" for n in range(len(rows))]]))
    return Case(
        draw(st.sampled_from(MACHINES)),
        operations(rows, processes),
        draw(st.sampled_from(["compute", "wait"])),
        tail_s=draw(st.sampled_from([0.0, 0.3])),
        cached=draw(st.booleans()),
    )


def operation_seconds(case: Case, trace: Path) -> Mapping[str, float]:
    """Return the simulated time of the operations of each kind, over all processes."""
    write_paced(case.records, trace)
    document = hr.run(hr.load(case.scenario(trace))).document
    return {name: one["count"] * one["mean"] for name, one in document["latency"].items()}


def gaps_s(case: Case) -> float:
    return float(case.records["gap_ns"].sum()) / 1e9


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_change_saves_no_more_than_the_time_of_its_part(
    change: Change, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = data.draw(cases(LAST.get(change.name)))
    changed = change.apply(case, Context(None, 2, BASELINE))
    if changed is None:
        return
    if change.name not in COMPUTING:
        assert gaps_s(changed.case) == pytest.approx(gaps_s(case), abs=1e-7)
    before, after = simulate([case, changed.case])
    assert before.error is None and after.error is None
    seconds = operation_seconds(case, tmp_path_factory.getbasetemp() / "case.csv")
    part = sum(
        seconds[name] for name in TOUCHED.get(change.name, set(seconds) - {"all"}) & seconds.keys()
    )
    if change.name in COMPUTING:
        part += gaps_s(case) + case.tail_s
    # A percentile sketch has means of about a millionth.
    assert after.seconds >= before.seconds - part * 1.001 - 1e-5


@pytest.mark.parametrize("verdict", VERDICTS)
@settings(max_examples=5, deadline=None)
@given(
    gap_ms=st.floats(200.0, 5000.0),
    last=st.booleans(),
    machine=st.sampled_from(MACHINES[:2]),
    size=st.integers(1, 4 * KIB),
)
def test_a_program_without_io_gains_nothing_from_other_io(
    verdict: str, gap_ms: float, last: bool, machine: str, size: int
) -> None:
    # The loader, and a last or first word after the computing.
    rows: list[Row] = [
        ("open", "/lib/libc.so", 0, 0, 0.0),
        ("read", "/lib/libc.so", 0, 832, 0.0),
        ("close", "/lib/libc.so", 0, 0, 0.0),
    ]
    word: Row = ("write", "out.txt", 0, size, 0.0)
    rows = (
        [*rows, (*word[:4], gap_ms)] if last else [*rows, word, ("close", "out.txt", 0, 0, gap_ms)]
    )
    for records in (operations(rows), operations([])):
        case = Case(
            machine, records, "compute", 0.0 if records.height else gap_ms / 1e3, cached=True
        )
        advice, _, _ = advise(case, Context(verdict, 2, BASELINE))  # type: ignore[arg-type]
        assert {one.change for one in advice} <= {"parallel-computing", "faster-processor"}
        assert all(LEAST_GAIN < one.predicted_gain <= 1.0 + 1e-6 for one in advice)


@settings(max_examples=20, deadline=None)
@given(case=cases(), factor=st.sampled_from([0.5, 0.7, 0.85, 1.0, 1.15, 1.4, 3.0]))
def test_no_gain_is_stated_for_a_phase_that_the_model_misses(case: Case, factor: float) -> None:
    (outcome,) = simulate([case])
    context = Context("latency", 2, BASELINE, recorded_s=outcome.seconds / factor)
    advice, _, notes = advise(case, context)
    if outcome.seconds == 0:
        return
    assert notes[0].startswith("no advice: ") == (abs(factor - 1) > 0.2)
    assert "recorded" in notes[0] and "limit 20 %" in notes[0]
    if abs(factor - 1) > 0.2:
        assert advice == []
    assert all(0 < one.predicted_gain < math.inf for one in advice)
    # Time that the simulation does not explain stays.
    longest_s = outcome.seconds / min(factor, 1.0)
    for one in advice:
        assert longest_s / (1 + one.predicted_gain) >= longest_s - outcome.seconds - 1e-9
