"""Darshan logs as traces: counts as PyDarshan has them, and damage that gives one line."""

import gzip
import importlib.util
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import command
from darshan_logs import Counted, contents, log, read_intact, report, shipped, write_log
from headrace.profile.trace_findings import findings
from headrace.trace import (
    DarshanReader,
    darshan_workload,
    data_records,
    frame,
    import_trace,
    open_trace,
    read_log,
    trace_info,
)
from headrace.trace.darshan.request_sizes import BINS, SizeCounters, request_sizes
from headrace.trace.darshan.workload import patterns

LOGS = shipped()
COUNTED = ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN")
STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")


@pytest.fixture(scope="module", params=LOGS, ids=lambda path: path.stem[:24])
def opened(request: pytest.FixtureRequest) -> tuple[Path, DarshanReader, Any]:
    path: Path = request.param
    return path, DarshanReader(path, contents(path)), report(path)


def module_totals(reported: Any, module: str, streams: bool = False) -> Counter[str]:
    """Totals of PyDarshan's counters of a module, with or without standard streams."""
    totals: Counter[str] = Counter()
    if module not in reported.records:
        return totals
    counters = reported.records[module].to_df()["counters"]
    for row in counters.to_dict("records"):
        name = reported.name_records.get(int(row["id"]), "")
        if not streams and module == "STDIO" and name in STREAMS:
            continue
        for key in COUNTED:
            if module == "MPI-IO" and key in ("READS", "WRITES"):
                value = sum(max(int(row[f"MPIIO_{kind}_{key}"]), 0) for kind in KINDS)
            else:
                value = max(int(row[f"{module.replace('-', '')}_{key}"]), 0)
            totals[key] += value
    return totals


def without_posix(reported: Any) -> Counter[str]:
    """Totals of MPI-IO on files on which POSIX recorded no request."""
    totals: Counter[str] = Counter()
    if "MPI-IO" not in reported.records:
        return totals
    posix = reported.records["POSIX"].to_df()["counters"]
    known = set(posix[posix.POSIX_READS + posix.POSIX_WRITES > 0]["id"])
    for row in reported.records["MPI-IO"].to_df()["counters"].to_dict("records"):
        if row["id"] not in known:
            for key in ("READS", "WRITES"):
                totals[key] += sum(max(int(row[f"MPIIO_{kind}_{key}"]), 0) for kind in KINDS)
            for key in ("BYTES_READ", "BYTES_WRITTEN"):
                totals[key] += max(int(row[f"MPIIO_{key}"]), 0)
    return totals


KINDS = ("INDEP", "COLL", "SPLIT", "NB")


def test_the_package_ships_logs_with_and_without_dxt() -> None:
    assert len(LOGS) >= 15


def test_counts_are_those_of_pydarshan(opened: tuple[Path, DarshanReader, Any]) -> None:
    _, reader, reported = opened
    for module, table in reader.log.counters.items():
        if module in ("H5F", "PNETCDF_FILE", "PNETCDF_VAR", "DAOS"):
            # They have no READS.
            continue
        expected = module_totals(reported, module, streams=True)
        prefix = module.replace("-", "")
        for key in COUNTED:
            kinds = KINDS if module == "MPI-IO" and key in ("READS", "WRITES") else ("",)
            columns = [f"{prefix}_{kind}{'_' if kind else ''}{key}" for kind in kinds]
            assert sum(int(table[name].sum()) for name in columns) == expected[key], (module, key)
    assert reader.log.header.processes == reported.metadata["job"]["nprocs"]


def test_segments_are_those_of_pydarshan(opened: tuple[Path, DarshanReader, Any]) -> None:
    _, reader, reported = opened
    dxt = {name for name in reported.modules if name.startswith("DXT")}
    assert set(reader.log.segments) == dxt
    for module, segments in reader.log.segments.items():
        expected = Counter(
            (record["id"], record["rank"], kind, it["offset"], it["length"], it["start_time"])
            for record in reported.records[module]
            for kind in ("write", "read")
            for it in _rows(record[f"{kind}_segments"])
        )
        kinds = np.where(segments.is_write, "write", "read").tolist()
        found = Counter(
            zip(
                segments.identifier.tolist(),
                segments.rank.tolist(),
                kinds,
                segments.offset.tolist(),
                segments.length.tolist(),
                segments.start_s.tolist(),
                strict=True,
            )
        )
        assert found == expected


def _rows(segments: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        segments if isinstance(segments, list) else segments.to_dict("records")
    )
    return rows


def test_records_add_up_to_the_counters(opened: tuple[Path, DarshanReader, Any]) -> None:
    path, reader, reported = opened
    table = frame(DarshanReader(path, reader.log))
    expected = module_totals(reported, "POSIX")
    if reader.is_synthesised:
        expected += module_totals(reported, "STDIO") + without_posix(reported)
    for direction, moved in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
        rows = table.filter(pl.col("operation") == direction)
        if reader.is_synthesised or "dxt-simple" not in path.name:
            assert rows.height == expected[f"{direction.upper()}S"]
            assert rows["size"].sum() == expected[moved]
    # One write of that log is in MPI-IO's segments and in POSIX's, and counts once.
    if "dxt-simple" in path.name:
        assert table.height == 2
        assert table["size"].sum() == 4040
    assert table["time_ns"].is_sorted()
    assert table["duration_ns"].min() is None or table["duration_ns"].min() >= 0  # type: ignore[operator]
    ranks = table["process"].cast(pl.Int64)
    assert ranks.is_between(0, reader.log.header.processes - 1).all()


def test_synthesised_sizes_have_the_histogram_of_the_log(
    opened: tuple[Path, DarshanReader, Any],
) -> None:
    path, reader, reported = opened
    if not reader.is_synthesised or "POSIX" not in reported.records:
        return
    counters = reported.records["POSIX"].to_df()["counters"]
    of_streams = module_totals(reported, "STDIO") + without_posix(reported)
    if of_streams["READS"] + of_streams["WRITES"]:
        # Requests of other modules cannot be told apart, and STDIO has no histogram.
        return
    table = frame(DarshanReader(path, reader.log))
    for direction in ("READ", "WRITE"):
        sizes = table.filter(pl.col("operation") == direction.lower())["size"].to_numpy()
        bins = np.searchsorted([high for _, _, high in BINS], sizes)
        for number, (name, _, _) in enumerate(BINS):
            expected = int(counters[f"POSIX_SIZE_{direction}_{name}"].sum())
            assert int((bins == number).sum()) == expected, (direction, name)


def test_nothing_is_dropped_without_being_counted() -> None:
    reader = open_trace(log("dxt."))
    assert isinstance(reader, DarshanReader)
    skipped = {it["name"]: it["count"] for it in json.loads(reader.skipped())}
    counters = report(log("dxt.")).records["POSIX"].to_df()["counters"]
    assert skipped["POSIX open and close, which DXT does not trace"] == counters.POSIX_OPENS.sum()
    assert skipped["POSIX stat, which DXT does not trace"] == counters.POSIX_STATS.sum()
    assert skipped["read or write of STDIO, which DXT does not trace"] == 39
    reader = open_trace(log("ior_hdf5"))
    skipped = {it["name"]: it["count"] for it in json.loads(reader.skipped())}
    assert skipped["call of MPI-IO whose calls below are records"] == 59
    assert skipped["read or write of a standard stream"] == 128


def test_a_log_gives_the_same_trace_in_every_format(tmp_path: Path) -> None:
    for name in ("shane", "ior_hdf5"):
        source = log(name)
        direct = frame(open_trace(source))
        for target in ("t.parquet", "t.csv"):
            assert import_trace(source, tmp_path / target).records == direct.height
            assert frame(open_trace(tmp_path / target)).equals(direct)
        copy = tmp_path / "no-suffix"
        copy.write_bytes(source.read_bytes())
        assert trace_info(copy).summary["records"] == direct.height


def test_a_replay_reads_a_log(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        'system = "lustre"\nclients = { count = 2, machine.memory.size = "2 GiB" }\n'
        'network = { bandwidth = "1 Gbit/s", latency = "0.1 ms" }\n'
        'servers = { count = 2, device = { read_rate = "1 GB/s", write_rate = "1 GB/s" } }\n'
        f"[[workload]]\nkind = \"trace\"\nfile = '{log('ior_hdf5')}'\n"
    )
    done = command("run", scenario, "--json", "--no-store")
    assert done.returncode == 0, done.stderr
    operations = json.loads(done.stdout)["operations"]
    assert json.dumps(operations).count("36") and json.dumps(operations).count("23")


def skipped_of(path: Path) -> dict[str, int]:
    reader = open_trace(path)
    assert isinstance(reader, DarshanReader)
    return {it["name"]: it["count"] for it in json.loads(reader.skipped())}


def moved(path: Path) -> tuple[int, int]:
    """Bytes read and written in the records of a log."""
    summary = trace_info(path).summary
    return summary["bytes_read"], summary["bytes_written"]


def both_ways(module: str, rank: int, requests: int, size: int, **names: str) -> Counted:
    """Equal reads and writes of one size by a module on file 5."""
    kind = "AGG_" if module == "H5D" else ""
    size_bin = next(name for name, low, high in BINS if low <= size <= high)
    counters = {"BYTES_READ": requests * size, "BYTES_WRITTEN": requests * size}
    for direction in ("READ", "WRITE"):
        counters[f"SIZE_{direction}_{kind}{size_bin}"] = requests
        counters[names.get(direction.lower(), f"{direction}S")] = requests
    return Counted(module, 5, rank, counters)


# 16 processes write and read 64 blocks of 256 KiB: 16,777,216 B each way.
DFS = both_ways("DFS", -1, 64, 1 << 18)
DAOS = both_ways("DAOS", -1, 64, 1 << 18, read="ARRAY_READS", write="ARRAY_WRITES")
DATASETS = both_ways("H5D", -1, 64, 1 << 18)


@pytest.mark.parametrize(
    ("records", "above"),
    [
        ([DFS], {}),
        ([DAOS], {}),
        ([DFS, DAOS], {"call of DAOS whose calls below are records": 128}),
        ([DATASETS], {}),
        ([DFS, DATASETS], {"call of H5D whose calls below are records": 128}),
        (
            [both_ways("POSIX", -1, 64, 1 << 18), DATASETS],
            {"call of H5D whose calls below are records": 128},
        ),
    ],
)
def test_each_byte_counts_once_at_the_lowest_level(
    records: list[Counted], above: dict[str, int], tmp_path: Path
) -> None:
    path = write_log(tmp_path / "x.darshan", 16, records)
    assert moved(path) == (64 << 18, 64 << 18)
    assert frame(open_trace(path))["process"].n_unique() == 16
    left = {name: count for name, count in skipped_of(path).items() if name.startswith("call")}
    assert left == above
    workload = tomllib.loads(darshan_workload(read_log(path)).toml)["workload"]
    blocks = [int(it["block"].split()[0]) * 16 for it in workload if it["kind"] == "ior"]
    assert sum(blocks) == 2 * (64 << 18)


def test_vectored_and_non_blocking_calls_of_dfs_count_once(tmp_path: Path) -> None:
    """Non-blocking calls are among the reads and vectored reads."""
    counters = {"READS": 3, "READXS": 2, "NB_READS": 4, "BYTES_READ": 5000, "SIZE_READ_100_1K": 5}
    path = write_log(tmp_path / "x.darshan", 2, [Counted("DFS", 5, 1, counters)])
    table = frame(open_trace(path))
    reads = table.filter(pl.col("operation") == "read")
    assert (reads.height, reads["size"].sum()) == (5, 5000)


def test_modules_that_are_not_read_are_named(tmp_path: Path) -> None:
    path = write_log(tmp_path / "x.darshan", 2, [DFS], ["MDHIM", "HEATMAP"])
    skipped = skipped_of(path)
    assert skipped["module MDHIM, which is not read"] == 1
    assert skipped["module HEATMAP: bytes of other modules over time"] == 1
    (unread,) = [it for it in findings(path) if it.rule == "unread-modules"]
    assert (unread.level, unread.evidence) == ("warning", ["module MDHIM"])
    made = darshan_workload(read_log(path))
    assert "module MDHIM, which is not read" in made.left_out
    assert "# Left out: module MDHIM, which is not read." in made.toml
    # One of them alone.
    alone = write_log(tmp_path / "y.darshan", 2, [], ["MDHIM"])
    done = command("trace", "workload", alone)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "no request on a file; module MDHIM, which is not read" in done.stderr
    assert [it.rule for it in findings(alone)] == ["unread-modules"]
    assert "module MDHIM" in command("trace", "findings", alone).stdout


def partly_shared(ranks: int) -> list[Counted]:
    """A file that some processes wrote for all: a POSIX record of each, one of MPI-IO."""
    own = {"WRITES": 2, "BYTES_WRITTEN": 2 << 20, "SIZE_WRITE_100K_1M": 2, "OPENS": 1}
    posix = [Counted("POSIX", 5, rank, own) for rank in range(ranks)]
    calls = {"COLL_WRITES": 128, "BYTES_WRITTEN": 128 * 70_000, "SIZE_WRITE_AGG_10K_100K": 128}
    return [*posix, Counted("MPI-IO", 5, -1, calls)]


@pytest.mark.parametrize("ranks", [1, 4, 7])
def test_a_record_of_mpi_io_is_used_once(ranks: int, tmp_path: Path) -> None:
    path = write_log(tmp_path / "x.darshan", 8, partly_shared(ranks))
    made = darshan_workload(read_log(path))
    tables = [it for it in tomllib.loads(made.toml)["workload"] if it["kind"] == "ior"]
    assert len(tables) == 1
    assert tables[0]["collective"] == "two-phase"
    assert "# 128 MPI-IO writes of 8,960,000 B on 1 shared files" in made.toml
    assert int(tables[0]["block"].split()[0]) * 8 == 128 * 70_000


@st.composite
def mpi_io_logs(draw: st.DrawFn) -> list[Counted]:
    """Records of POSIX and MPI-IO on up to three files by up to four processes."""
    records = []
    for identifier in range(draw(st.integers(1, 3))):
        for module in ("POSIX", "MPI-IO"):
            ranks = draw(st.sampled_from([[], [-1], [0], [0, 1], [0, 1, 2, 3]]))
            for rank in ranks:
                requests = draw(st.integers(0, 9))
                name = draw(st.sampled_from(["COLL_WRITES", "INDEP_WRITES"]))
                counters = {
                    "WRITES" if module == "POSIX" else name: requests,
                    "BYTES_WRITTEN": requests * 5000,
                }
                records.append(Counted(module, identifier + 1, rank, counters))
    return records


@settings(max_examples=25, deadline=None)
@given(mpi_io_logs())
def test_a_workload_moves_the_bytes_of_one_level(
    tmp_path_factory: pytest.TempPathFactory, records: list[Counted]
) -> None:
    path = write_log(tmp_path_factory.mktemp("logs") / "x.darshan", 4, records)
    known = read_intact(path)
    expected = 0
    for identifier in {it.identifier for it in records}:
        requests, moved_bytes, collective = Counter[str](), Counter[str](), 0
        ranks: dict[str, list[int]] = {"POSIX": [], "MPI-IO": []}
        for module, number, rank, counters in records:
            if number == identifier:
                count = sum(value for name, value in counters.items() if name.endswith("WRITES"))
                requests[module] += count
                moved_bytes[module] += counters["BYTES_WRITTEN"]
                collective += counters.get("COLL_WRITES", 0)
                ranks[module].append(rank)
        shared = any(len(it) > 1 or it == [-1] for it in ranks.values())
        exchanged = shared and requests["POSIX"] < 0.9 * requests["MPI-IO"]
        if not requests["POSIX"] or (exchanged and 2 * collective >= requests["MPI-IO"]):
            expected += moved_bytes["MPI-IO"]
        else:
            expected += moved_bytes["POSIX"]
    if expected == 0:
        return
    assert sum(it.bytes for it in patterns(known)) == expected
    posix = sum(it.bytes("WRITE") for it in data_records(known).used)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headrace.trace.darshan.log.read_by_process", read_intact)
        assert sum(moved(path)) == posix


@st.composite
def requests(draw: st.DrawFn) -> list[int]:
    sizes = st.one_of(
        st.integers(0, 2000), st.integers(0, 1 << 33), st.sampled_from([bin[2] for bin in BINS[:9]])
    )
    return draw(st.lists(sizes, min_size=1, max_size=60))


@given(requests(), st.integers(0, 4))
def test_sizes_agree_with_every_possible_histogram(sizes: list[int], common: int) -> None:
    bins = np.searchsorted([high for _, _, high in BINS], sizes)
    histogram = np.bincount(bins, minlength=len(BINS)).tolist()
    counters = SizeCounters(len(sizes), sum(sizes), histogram, Counter(sizes).most_common(common))
    made, fits = request_sizes(counters)
    assert fits
    assert made.sum() == sum(sizes)
    found = np.searchsorted([high for _, _, high in BINS], made)
    assert np.bincount(found, minlength=len(BINS)).tolist() == histogram
    for size, count in counters.common:
        assert (made == size).sum() >= count


@given(
    st.integers(0, 1000),
    st.integers(0, 1 << 50),
    st.lists(st.integers(0, 40), min_size=len(BINS), max_size=len(BINS)),
    st.lists(st.tuples(st.integers(0, 1 << 40), st.integers(0, 100)), max_size=4),
)
def test_sizes_add_up_whatever_the_counters_are(
    count: int, moved: int, histogram: list[int], common: list[tuple[int, int]]
) -> None:
    made, _ = request_sizes(SizeCounters(count, moved, histogram, common))
    assert len(made) == count
    assert not count or made.sum() == moved
    assert (made >= 0).all()


def one_line(path: Path) -> str | None:
    """The error of a log in one line; None if it can be read."""
    try:
        trace_info(path)
    except (ValueError, OSError) as error:
        assert str(error).startswith(f"{path}: "), error
        assert "\n" not in str(error)
        return str(error)
    return None


@settings(max_examples=12)
@given(st.data())
def test_damaged_logs_never_give_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from(["ior_hdf5", "example", "sample-dxt", "pq_app_readAB"]))
    content = bytearray(log(source).read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 5))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "x.darshan"
    path.write_bytes(content)
    one_line(path)


def test_a_log_without_its_end_is_refused(tmp_path: Path) -> None:
    content = log("ior_hdf5").read_bytes()
    for part in (0.4, 0.9, 0.99):
        path = tmp_path / "x.darshan"
        path.write_bytes(content[: int(part * len(content))])
        problem = one_line(path)
        assert problem is not None and "damaged Darshan log" in problem


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not a Darshan log: expected a log of Darshan 3"),
        (b"text that is no log at all\n", "not a Darshan log: expected a log of Darshan 3"),
        (gzip.compress(b"2.05", mtime=0), "compressed by gzip or bzip2"),
        (b"2.05\0\0\0\0" + (6567223).to_bytes(8, "little"), "a log of Darshan format '2.05'"),
        (b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little"), "damaged Darshan log: "),
    ],
)
def test_foreign_files_give_one_line(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "x.darshan"
    path.write_bytes(content)
    assert problem in (one_line(path) or "")
    for verb in ("info", "findings", "workload"):
        done = command("trace", verb, path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1 and problem in done.stderr


def test_a_crash_of_the_library_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(ValueError, match="damaged Darshan log: PyDarshan ended with SIGSEGV"):
        read_log(log("ior_hdf5"))


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"pip install 'headrace\[darshan\]'") as raised:
        trace_info(log("ior_hdf5"))
    assert "\n" not in str(raised.value)


def test_a_directory_or_pipe_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        trace_info(tmp_path / "none.darshan")
    done = subprocess.run(
        [sys.executable, "-m", "headrace", "trace", "info", "--format", "darshan", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
