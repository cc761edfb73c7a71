"""What the kernel writes, read: formats, pages, records."""

import struct
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.kernel_trace import KernelTraceError
from headrace.kernel_trace.columns import table
from headrace.kernel_trace.formats import Field, Format, format_of
from headrace.kernel_trace.ring_buffer import PageHeader, records

pytestmark = pytest.mark.skipif(
    sys.byteorder != "little", reason="these tests write pages as little-endian machines have them"
)

HEADER = PageHeader(16, 8)
ISSUE = """name: block_rq_issue
ID: 2104
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:unsigned long args[6];\toffset:48;\tsize:48;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;

print fmt: "%d,%d %s", REC->dev, REC->sector, REC->rwbs
"""


def word(kind: int, delta: int) -> bytes:
    return struct.pack("<I", delta << 5 | kind)


def page(time: int, body: bytes, room: int = 4080) -> bytes:
    return struct.pack("<QQ", time, len(body)) + body + bytes(room - len(body))


def written(delta: int, data: bytes) -> bytes:
    """A record, as the kernel writes one of these bytes."""
    data += bytes(-len(data) % 4)
    if len(data) <= 4 * 28:
        return word(len(data) // 4, delta) + data
    return word(0, delta) + struct.pack("<I", len(data) + 4) + data


def test_a_format_has_numbers_and_texts() -> None:
    found = format_of(ISSUE, "block/block_rq_issue")
    assert (found.name, found.number, found.size) == ("block_rq_issue", 2104, 44)
    assert found.fields == (
        Field("common_type", 0, 2, "unsigned"),
        Field("common_pid", 4, 4, "signed"),
        Field("dev", 8, 4, "unsigned"),
        Field("sector", 16, 8, "unsigned"),
        Field("rwbs", 34, 10, "text"),
    )


@given(st.text(max_size=400) | st.text(alphabet="field:ID name;offset0129[]\n\t", max_size=400))
def test_any_text_is_a_format_or_an_error(text: str) -> None:
    for given_text in (text, ISSUE + text, "name: x\nID: 1\n" + text):
        try:
            found = format_of(given_text, "x")
        except KernelTraceError:
            continue
        assert all(field.size > 0 for field in found.fields)


RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["record", "extend", "stamp", "discarded"]),
        st.integers(1, (1 << 27) - 1),
        st.binary(min_size=4, max_size=160),
    ),
    max_size=20,
)


@given(st.integers(0, 1 << 58), RECORDS)
def test_records_are_found_with_their_times(start: int, given_records: list[tuple]) -> None:  # type: ignore[type-arg]
    body, time, expected = b"", start, []
    for kind, delta, data in given_records:
        if kind == "extend":
            body += word(30, 7) + struct.pack("<I", delta)
            time += (delta << 27) + 7
        elif kind == "stamp":
            body += word(31, 3) + struct.pack("<I", delta)
            time = (time & 0xF8 << 56) | (delta << 27) + 3
        elif kind == "discarded":
            body += word(29, delta) + struct.pack("<I", 8) + bytes(4)
            time += delta
        else:
            body += written(delta, data)
            time += delta
            expected.append((time, data))
    found = records([page(5, b""), page(start, body)], HEADER)
    assert found.times.tolist() == [time for time, _ in expected]
    for offset, size, (_, data) in zip(found.offsets, found.sizes, expected, strict=True):
        assert size >= len(data)
        assert bytes(found.data[offset : offset + len(data)]) == data


@given(st.lists(st.binary(max_size=120), max_size=3))
def test_any_bytes_are_pages_or_an_error(pages: list[bytes]) -> None:
    try:
        found = records(pages, HEADER)
    except KernelTraceError:
        return
    assert np.all(found.offsets + found.sizes <= len(found.data))


@given(st.binary(max_size=200))
def test_a_page_whose_records_are_anything_is_read_or_refused(body: bytes) -> None:
    try:
        found = records([page(0, body)], HEADER)
        table(format_of(ISSUE, "x"), [found])
    except KernelTraceError:
        return
    assert np.all(found.offsets + found.sizes <= len(found.data))


def test_what_pages_cannot_have_is_told() -> None:
    with pytest.raises(KernelTraceError, match="less than its header"):
        records([b"short"], HEADER)
    with pytest.raises(KernelTraceError, match="says that 5016 are used"):
        records([struct.pack("<QQ", 0, 5000) + bytes(100)], HEADER)
    with pytest.raises(KernelTraceError, match="ends behind its page"):
        records([page(0, word(28, 1) + bytes(8))], HEADER)


def issue(thread: int, sector: int, letters: bytes) -> bytes:
    data = bytearray(64)
    struct.pack_into("<HxxiI", data, 0, 2104, thread, 77)
    struct.pack_into("<Q", data, 16, sector)
    data[34:44] = letters.ljust(10, b"\0")
    return bytes(data)


def test_records_of_all_processors_are_one_table() -> None:
    one = records(
        [page(100, written(1, issue(5, 8, b"WS")) + written(9, issue(6, 16, b"R\0x")))], HEADER
    )
    two = records([page(100, written(5, issue(7, 24, b"WS")) + written(1, b"\1\0\0\0"))], HEADER)
    found = table(format_of(ISSUE, "x"), [one, two])
    assert found.to_dict(as_series=False) == {
        "time_ns": [101, 105, 110],
        "processor": [0, 1, 0],
        "thread": [5, 7, 6],
        "dev": [77, 77, 77],
        "sector": [8, 24, 16],
        "rwbs": ["WS", "WS", "R"],
    }
    assert found.schema["sector"] == pl.UInt64
    nothing = table(format_of(ISSUE, "x"), [records([], HEADER)])
    assert nothing.height == 0 and nothing.columns == found.columns


def test_a_record_shorter_than_its_format_is_told() -> None:
    short = records([page(0, written(1, struct.pack("<HH", 2104, 0)))], HEADER)
    with pytest.raises(KernelTraceError, match="shorter than its format"):
        table(format_of(ISSUE, "x"), [short])
    with pytest.raises(KernelTraceError, match="shorter than its format"):
        table(
            Format("e", 1, (Field("f", 0, 8, "signed"),)),
            [records([page(0, written(1, b"\1\0\0\0"))], HEADER)],
        )
