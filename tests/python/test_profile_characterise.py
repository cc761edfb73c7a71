"""Characteristics of traces with known answers, and workloads fitted to them."""

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from command import command
from headrace.profile import characterise as module
from headrace.profile.characterise import CharacterisingReader, characterise
from headrace.profile.characteristics import Characteristics
from headrace.profile.paced_trace import paced, read_paced
from headrace.profile.workload_fit import FittedWorkload, fit
from headrace.trace import open_trace, synthesize, trace_info

TRACES = Path(__file__).parents[1] / "data" / "traces"
NAMES = ["tar.strace", "build.strace", "git.strace", "sqlite.strace", "copy.strace"]
HEADER = "time,process,operation,file,offset,size,duration\n"
MACHINE = """system = "ext4"
kind = "local"
[machine.device]
kind = "simple"
read_rate = "100 MB/s"
write_rate = "100 MB/s"
"""


def _characteristics(folder: Path, *rows: str) -> dict[str, Any]:
    path = folder / "t.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    document = characterise(path)
    assert msgspec.convert(document, Characteristics)
    json.dumps(document, allow_nan=False)
    return document


@pytest.mark.parametrize("name", NAMES)
def test_the_figures_agree_with_the_summary(name: str) -> None:
    document, summary = characterise(TRACES / name), trace_info(TRACES / name).summary
    for key in ("records", "processes", "files", "bytes_read", "bytes_written"):
        assert document[key] == summary[key], key
    assert document["span_s"] == pytest.approx(summary["span_seconds"])
    counts = {it["operation"]: it["count"] for it in document["operations"]}
    assert counts == {it["operation"]: it["count"] for it in summary["operations"]}
    assert sum(it["share"] for it in document["operations"]) == pytest.approx(1)
    busiest = {it["file"]: it["bytes_read"] for it in document["busiest_files"]}
    for it in summary["busiest_files"]:
        assert busiest[it["file"]] == it["bytes_read"]
    moved = sum(it["reads"] + it["writes"] for it in document["request_sizes"])
    assert moved == sum(document["access"].values())
    assert sum(document["access_patterns"].values()) == moved


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_is_characterised_while_it_is_read(name: str) -> None:
    reader = CharacterisingReader(open_trace(TRACES / name))
    records = paced(reader)
    assert records.equals(read_paced(TRACES / name))
    assert msgspec.to_builtins(reader.characteristics()) == characterise(TRACES / name)


def test_batches_do_not_change_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = characterise(TRACES / "build.strace")
    monkeypatch.setattr(module, "BATCH", 7)
    parts = characterise(TRACES / "build.strace")
    parts["concurrency"].pop("max"), whole["concurrency"].pop("max")
    assert _rounded(parts) == _rounded(whole)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(it) for key, it in value.items()}
    return [_rounded(it) for it in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("offsets", "pattern", "steps"),
    [
        ([0, 10, 20, 30], "sequential", {"first": 1, "consecutive": 3}),
        ([30, 20, 10, 0], "backward", {"first": 1, "backward": 3}),
        ([0, 100, 200, 300, 400], "strided", {"first": 1, "forward": 1, "strided": 3}),
        ([0, 100, 300, 310], "monotonic", {"first": 1, "forward": 2, "consecutive": 1}),
        ([0, 500, 90, 700, 90], "random", {"first": 1, "forward": 2, "jump": 2}),
        ([40], "single", {"first": 1}),
    ],
)
def test_positions_make_the_pattern(
    tmp_path: Path, offsets: list[int], pattern: str, steps: dict[str, int]
) -> None:
    rows = [f"{n},1,read,/a,{offset},10,0.1" for n, offset in enumerate(offsets)]
    document = _characteristics(tmp_path, *rows)
    assert document["busiest_files"][0]["pattern"] == pattern
    assert {name: count for name, count in document["access"].items() if count} == steps
    assert document["busiest_files"][0]["length"] == max(offsets) + 10


def test_an_open_begins_a_new_series(tmp_path: Path) -> None:
    rows = [
        f"{2 * n + m},1,{operation},/a,0,{10 * m},0"
        for n in range(3)
        for m, operation in enumerate(("open", "read"))
    ]
    document = _characteristics(tmp_path, *rows)
    assert document["access"]["first"] == 3
    assert document["busiest_files"][0]["pattern"] == "single"


def test_processes_have_series_of_their_own(tmp_path: Path) -> None:
    rows = [f"{n},{n % 2},read,/a,{(n % 2) * 500 + (n // 2) * 10},10,0" for n in range(10)]
    document = _characteristics(tmp_path, *rows)
    assert document["access"] == {
        **dict.fromkeys(("forward", "backward", "strided", "jump"), 0),
        "first": 2,
        "consecutive": 8,
    }


def test_times_between_calls(tmp_path: Path) -> None:
    document = _characteristics(
        tmp_path,
        "0.0,1,read,/a,0,10,0.1",
        "0.3,1,read,/a,10,10,0.1",
        "0.35,2,write,/b,0,10,0.15",
        "2.0,1,sync,/a,0,0,0.5",
        "3.0,1,read,/a,20,30,0.5",
    )
    think = document["think_times"]
    assert (think["count"], think["total_s"]) == (3, pytest.approx(0.2 + 1.6 + 0.5))
    assert think["max_s"] == pytest.approx(1.6)
    assert think["p50_s"] == pytest.approx(0.5, rel=0.05)
    bursts = document["bursts"]
    assert bursts["count"] == 3
    assert bursts["lengths"]["total_s"] == pytest.approx(0.1 + 0.2 + 0.5)
    assert bursts["bytes_mean"] == pytest.approx(20)
    calls = document["concurrency"]
    assert calls["busy_s"] == pytest.approx(0.1 + 0.2 + 0.5 + 0.5)
    assert calls["call_s"] == pytest.approx(0.1 + 0.1 + 0.15 + 0.5 + 0.5)
    assert calls["max"] == 2
    assert calls["share_of_span"] == pytest.approx(1.3 / 3.5)
    assert document["syncs"]["count"] == 1


def test_heat_of_files(tmp_path: Path) -> None:
    rows = [f"{n},1,read,/{n % 10},0,{90 if n % 10 == 3 else 1},0" for n in range(100)]
    heat = _characteristics(tmp_path, *rows)["heat"]
    assert heat["files"] == 10
    assert heat["top_tenth_bytes"] == pytest.approx(900 / 990)
    assert heat["top_tenth_requests"] == pytest.approx(0.1)
    # Nine files of 10 bytes and one of 900.
    assert heat["gini_bytes"] == pytest.approx(0.9 - 90 / 990, abs=1e-6)


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.sampled_from(["read", "write", "open", "sync"]),
            st.integers(0, 3),
            st.integers(0, 2**63 - 1),
            st.integers(0, 2**31),
            st.integers(0, 10**10),
        ),
        min_size=1,
        max_size=50,
    )
)
def test_any_trace_has_finite_figures(rows: list[tuple[int, str, int, int, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            f"{n * 0.01:.9f},{process},{operation},/{file},{offset},{size},{taken / 1e9:.9f}"
            for n, (process, operation, file, offset, size, taken) in enumerate(rows)
        ]
        document = _characteristics(Path(folder), *lines)
        assert document["records"] == len(rows)
        calls = document["concurrency"]
        total = sum(it[5] for it in rows) / 1e9
        assert calls["call_s"] == pytest.approx(total, abs=1e-6)
        assert calls["busy_s"] <= document["span_s"] + 1e-6


def test_a_trace_without_times_has_none(tmp_path: Path) -> None:
    path = tmp_path / "t.strace"
    path.write_text('read(3</a>, ""..., 10) = 10\nread(3</a>, ""..., 10) = 10\n')
    document = characterise(path)
    assert document["span_s"] is None
    assert document["think_times"]["count"] == document["bursts"]["count"] == 0
    assert document["access"]["consecutive"] == 1


def test_info_shows_it_on_request(tmp_path: Path) -> None:
    done = command("trace", "info", TRACES / "build.strace", "--full", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["characteristics"] == characterise(TRACES / "build.strace")
    shown = command("trace", "info", TRACES / "build.strace", "--full")
    for word in ("Positions of reads and writes", "think", "Heat: a tenth of the", "Mapped"):
        assert word in shown.stdout or word == "Mapped"
    refused = command("trace", "info", "-", "--full")
    assert refused.returncode == 2
    assert "--full reads the trace twice: expected a file" in refused.stderr


def _loads(fitted: FittedWorkload, folder: Path) -> None:
    """The workload is simulated with a system, and carried out."""
    document = hr.run(hr.load(MACHINE + fitted.toml)).document
    assert document["operations"]
    scenario = folder / "fitted.toml"
    scenario.write_text(fitted.toml)
    bench = folder / "bench"
    bench.mkdir()
    done = command(
        "bench", "run", scenario, bench, "--json", "--no-store", "--set", "run.stop.requests=200"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [*NAMES, "log.csv"])
def test_a_workload_is_fitted_to_any_program(name: str, tmp_path: Path) -> None:
    fitted = fit(TRACES / name)
    assert 0 <= fitted.goodness.score < 0.35
    assert fitted.not_reproduced
    assert all(score >= fitted.goodness.score for score in fitted.others.values())
    _loads(fitted, tmp_path)


@pytest.mark.parametrize("phases", ["read", "write"])
@pytest.mark.parametrize("random", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_the_pattern_of_ior_is_found_again(
    tmp_path: Path, phases: str, random: bool, shared: bool
) -> None:
    trace = tmp_path / "t.parquet"
    synthesize(
        trace,
        processes=3,
        shared=shared,
        block=1 << 20,
        transfer=16 << 10,
        phases=phases,  # type: ignore[arg-type]
        random=random,
        think_ns=1000,
    )
    fitted = fit(trace)
    good = fitted.goodness
    assert fitted.kind == "ior"
    assert fitted.processes == 3
    assert good.operation_distance < 0.05
    assert good.requests_ratio == pytest.approx(1, abs=0.05)
    moved = good.bytes_read_ratio if phases == "read" else good.bytes_written_ratio
    assert moved == pytest.approx(1, abs=0.01)
    sizes = good.read_size_distance if phases == "read" else good.write_size_distance
    assert sizes == 0
    assert good.sequential_share == pytest.approx(good.recorded_sequential_share, abs=0.1)
    _loads(fitted, tmp_path)


def test_a_filter_is_a_pipeline(tmp_path: Path) -> None:
    lines = []
    for n in range(50):
        at = n * 0.01
        lines.append(f"{at:.3f},1,read,/in,{n * 65536},65536,0.002")
        lines.append(f"{at + 0.004:.3f},1,write,/out,{n * 32768},32768,0.001")
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "\n".join(lines) + "\n")
    fitted = fit(path)
    assert fitted.kind == "pipeline"
    assert fitted.goodness.score < 0.01
    assert 'request = "64 KiB"' in fitted.toml
    _loads(fitted, tmp_path)


def test_a_trace_without_reads_and_writes_has_a_mix(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    # The times between its operations become the think time of the benchmark that is run.
    rows = [f"{n / 100},1,{'stat' if n % 3 else 'unlink'},/{n},0,0,0" for n in range(30)]
    path.write_text(HEADER + "\n".join(rows) + "\n")
    fitted = fit(path)
    assert fitted.kind == "operation-mix"
    _loads(fitted, tmp_path)
    path.write_text(HEADER + "0,1,seek,/a,0,0,0\n")
    with pytest.raises(ValueError, match="no operation that a workload can have"):
        fit(path)
