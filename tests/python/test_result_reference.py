"""The reference pages of results: their tables, and the documents that they describe."""

import json
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ROOT, Command
from headrace import kinds

sys.path.insert(0, str(ROOT / "tools"))
import result_reference

BY_HAND = {"kind", "over_time"}
"""Keys of simulations that the page explains without a type."""


def test_the_pages_have_the_current_tables() -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "tools/result_reference.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def is_mapping(hint: Any) -> bool:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return any(is_mapping(each) for each in typing.get_args(hint))
    return typing.get_origin(hint) is dict


def unknown(value: Any, hint: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of keys that the type of a document lacks."""
    record, _ = result_reference.inner(hint, "")
    if isinstance(value, list):
        for each in value:
            yield from unknown(each, hint, path)
    elif isinstance(value, dict) and result_reference.is_record(record):
        known = result_reference.fields(record)
        for key, each in value.items():
            if is_mapping(hint):
                yield from unknown(each, record, f"{path}.{key}")
            elif key in known:
                yield from unknown(each, known[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"


@pytest.mark.parametrize("name", ["pfssim-sfq", "failed-server", "nfs", "replayed-trace"])
def test_the_types_have_all_keys_of_a_simulation(headrace: Command, name: str) -> None:
    ended = headrace("run", f"scenarios/{name}.toml", "--no-store", "--json", "--over-time")
    document = json.loads(ended.stdout)
    missing = {*unknown(document, kinds.record_type("simulated"))}
    assert missing == {f".{key}" for key in BY_HAND}


def test_a_table_has_units_meanings_and_records() -> None:
    record = kinds.record_type("network")
    assert record is not None
    lines = list(result_reference.Tables({}).table(record))
    assert "| `peer` |  | Address of the peer, HOST:PORT |" in lines
    assert "| `throughput.NAME` | bytes/s |  |" in lines
    times = "Percentiles of the latency, in seconds: `p50`, `p99`"
    assert f"| `latency.NAME` |  | {times} |" in lines
    messages = "Messages of one size; [keys](#messages)"
    assert f"| `messages[]` |  | {messages} |" in lines
