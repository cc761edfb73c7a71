"""Operations with gaps: cut, merged and left out, no time is lost."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.profile.paced_trace import cut, keep, merge, read_paced, with_gaps, write_paced
from headrace.trace import frame, open_trace
from headrace.trace.frames import SCHEMA

MILLISECOND = 1_000_000


def records(*rows: tuple[float, str, str, str, int, int, float]) -> pl.DataFrame:
    """Rows of time and duration in ms, process, operation, file, offset, size."""
    table = pl.DataFrame(
        [
            (round(at * MILLISECOND), process, operation, file, offset, size,
             round(lasts * MILLISECOND), "", "")
            for at, process, operation, file, offset, size, lasts in rows
        ],
        schema=dict.fromkeys(SCHEMA),
        orient="row",
        strict=False,
    )  # fmt: skip
    return table.cast(SCHEMA)


COPY = records(
    (0, "a", "open", "in", 0, 0, 1),
    (2, "a", "read", "in", 0, 4096, 1),
    (5, "a", "write", "out", 0, 4096, 1),
    (7, "a", "read", "in", 4096, 4096, 1),
    (10, "a", "write", "out", 4096, 4096, 1),
    (12, "a", "read", "in", 8192, 4096, 1),
    (14, "a", "write", "out", 8192, 4096, 1),
    (16, "a", "sync", "out", 0, 0, 5),
    (22, "a", "write", "out", 12288, 100, 1),
)


def gaps_ms(table: pl.DataFrame) -> list[float]:
    return [it / MILLISECOND for it in table["gap_ns"]]


def test_gaps_are_between_the_operations_of_a_process() -> None:
    table = with_gaps(COPY)
    assert gaps_ms(table) == [0, 1, 2, 1, 2, 1, 1, 1, 1]


def test_merged_requests_read_ahead_and_write_behind_and_keep_all_gaps() -> None:
    merged = merge(with_gaps(COPY), 8192)
    found = [
        (str(it["operation"]), it["file"], it["offset"], it["size"])
        for it in merged.iter_rows(named=True)
    ]
    assert found == [
        ("open", "in", 0, 0),
        ("read", "in", 0, 8192),
        ("write", "out", 0, 8192),
        ("read", "in", 8192, 4096),
        # The sync ends a merge.
        ("write", "out", 8192, 4096),
        ("sync", "out", 0, 0),
        ("write", "out", 12288, 100),
    ]
    assert gaps_ms(merged) == [0, 1, 5, 1, 1, 1, 1]


def test_random_requests_are_not_merged() -> None:
    table = with_gaps(
        records(
            (0, "a", "read", "f", 40960, 4096, 1),
            (1, "a", "read", "f", 0, 4096, 1),
            (2, "a", "read", "f", 8192, 4096, 1),
        )
    )
    assert merge(table, 1 << 20).select(table.columns).equals(table)


def test_the_gaps_of_records_that_are_left_out_stay() -> None:
    table = with_gaps(COPY)
    kept = keep(table, pl.col("operation").cast(pl.String) != "read")
    assert gaps_ms(kept) == [0, 3, 3, 2, 1, 1]


def test_a_cut_begins_at_its_own_time() -> None:
    part = cut(COPY, 0.006, 0.013)
    assert part["time_ns"].to_list() == [1 * MILLISECOND, 4 * MILLISECOND, 6 * MILLISECOND]
    assert gaps_ms(part) == [1, 2, 1]


def test_a_written_trace_has_the_operations_and_gaps(tmp_path: Path) -> None:
    table = with_gaps(COPY)
    path = tmp_path / "t.csv"
    write_paced(table, path)
    again = read_paced(path)
    assert again.drop("time_ns").equals(table.drop("time_ns"))
    assert frame(open_trace(path)).height == table.height


operations = st.sampled_from(["read", "write", "sync", "close", "stat"])


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1000),
            st.sampled_from("ab"),
            operations,
            st.sampled_from(["f", "g"]),
            st.integers(0, 4).map(lambda it: it * 4096),
            st.integers(0, 2).map(lambda it: it * 4096),
            st.integers(0, 9),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([4096, 8192, 1 << 20]),
)
def test_merging_preserves_bytes_and_never_adds_time(
    rows: list[tuple[float, str, str, str, int, int, float]], size: int
) -> None:
    table = with_gaps(records(*rows))
    merged = merge(table, size)
    assert merged.height <= table.height
    totals = [
        it.group_by("process", "file", "operation").agg(pl.col("size").sum()).sort(pl.all())
        for it in (table, merged)
    ]
    assert totals[0].equals(totals[1])
    # The gap before a process's last operation stays with one of its operations or ends it.
    for process in table["process"].unique():
        before, after = (
            it.filter(pl.col("process") == process)["gap_ns"].sum() for it in (table, merged)
        )
        assert 0 <= after <= before
    assert (merged["gap_ns"] >= 0).all()


@pytest.mark.parametrize("rows", [[], [(0, "a", "stat", "f", 0, 0, 1)]])
def test_traces_without_data_stay(
    rows: list[tuple[float, str, str, str, int, int, float]],
) -> None:
    table = with_gaps(records(*rows))
    assert merge(table, 1 << 20).height == len(rows)
