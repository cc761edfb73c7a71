"""Which part of what a mix reads is in memory: on real file systems, of known sequences."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

import headrace.measure as measure
from headrace.measure.cache import Reads, cache
from headrace.measure.report import ClassifiedReads

PASSES = """
[clients]
count = 1
processes = 1
[[workload]]
kind = "operation-mix"
weights = {{ read = 1 }}
files = 1
file_sizes = {{ "4 MiB" = 1 }}
read_sizes = {{ "64 KiB" = 1 }}
random_from = "1 GiB"
amount = {amount}
"""
"""One file is read from beginning to end, and again: 64 reads are once."""


def found(below: Path, text: str) -> dict[str, Any]:
    document = measure.measure(measure.load(text), below).document
    told: dict[str, Any] = document["cache"]
    if "hit_rate" not in told or "hit_bytes" not in told:
        pytest.skip(f"cachestat(2) is not there, which Linux 6.5 has: {told.get('note')}")
    told["on"] = document["counters"]["device"]
    return told


@pytest.mark.parametrize("passes", [1, 2, 20])
def test_what_was_read_before_is_a_hit_and_what_was_read_ahead_is_none(
    passes: int, tmp_path: Path
) -> None:
    told = found(tmp_path, PASSES.format(amount=64 * passes))
    if told["on"] is None:
        pytest.skip(f"{tmp_path} is on no block device: files never leave its memory")
    asked = 64 * passes * (64 << 10)
    assert told["asked_bytes"] == asked
    # Files leave the page cache before the run, and the first time everything is read anew.
    assert told["hit_rate"] == pytest.approx(1 - 1 / passes, abs=0.02)
    first = told["read_ahead_bytes"] + told["missed_bytes"]
    assert first == asked - told["hit_bytes"]
    # In order most is there before it is asked for.
    assert told["read_ahead_bytes"] > told["missed_bytes"] > 0
    assert told["device_bytes"] >= 0.9 * (4 << 20)


def test_files_in_memory_are_hits_on_a_file_system_without_a_device() -> None:
    below = Path("/dev/shm")
    if not below.is_dir():
        pytest.skip("there is no tmpfs at /dev/shm")
    told = found(below, PASSES.format(amount=64))
    assert told["hit_rate"] == 1.0 and told["read_ahead_bytes"] == told["missed_bytes"] == 0
    assert told["device_bytes"] is None


def test_what_passes_the_cache_is_no_hit(tmp_path: Path) -> None:
    told = found(tmp_path, PASSES.format(amount=128).replace("read = 1", "direct-read = 1"))
    assert told["hit_rate"] == 0.0 and told["missed_bytes"] == told["asked_bytes"] == 128 << 16


def test_what_was_just_written_is_a_hit(tmp_path: Path) -> None:
    """Writes go over the whole file, and reads find what they left."""
    text = PASSES.format(amount=2000).replace("read = 1", "read = 1, write = 1")
    told = found(
        tmp_path,
        text.replace(
            'read_sizes = { "64 KiB" = 1 }',
            'read_sizes = { "64 KiB" = 1 }\nwrite_sizes = { "64 KiB" = 1 }\nappend_share = 0',
        ),
    )
    assert told["hit_rate"] > 0.9


def test_ranks_do_not_tell_hits_from_what_was_read_ahead() -> None:
    pages = ClassifiedReads(
        asked_bytes=100, hit_bytes=20, read_ahead_bytes=30, missed_bytes=50, unknown_bytes=7
    )
    together = cache(Reads(100, 90), "sda", pages, apart=False)
    assert together.hit_rate == 0.5 and together.read_ahead_bytes is None
    assert "ranks" in str(together.note) and together.unknown_bytes == 7
    assert cache(Reads(100, 90), "sda", pages).hit_rate == 0.2
    # Where the kernel tells nothing of any page, it is counted otherwise.
    nothing = msgspec.structs.replace(pages, asked_bytes=0)
    assert cache(Reads(4_000_000, 1_000_000), "sda", nothing).hit_rate == 0.75
