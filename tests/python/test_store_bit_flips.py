"""A bit that was flipped anywhere in the rows of a result is found."""

import os
import random
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa

import headrace as hr
from headrace.store import Store, StoreFailure, schema
from headrace.store.database import Database
from headrace.store.location import Directory

FLIPS = 300
"""Random bits of a catalogue that are flipped, one at a time."""
TABLES = (schema.runs, *schema.PARTS)
COLUMNS = [(table.name, column.name) for table in TABLES for column in table.c]


def document(seed: int) -> dict[str, Any]:
    """A result that has a row in every table."""
    figures = {"throughput": {"read": 1.5e6}, "latency": {"read": {"mean": 0.25, "p999": 2.5}}}
    steps = [{"name": "400/s", "repetitions": [figures, figures], **figures}]
    return {
        "version": "0.1.0",
        "seed": seed,
        "calls": "posix",
        "wall_seconds": 1.25,
        "scenario": {"name": "marked", "toml": 'name = "marked"\n'},
        "replications": [figures | {"seed": seed}, figures | {"seed": seed + 1}],
        "steps": steps,
        **figures,
    }


ENVIRONMENT = {
    "host": "storage-7",
    "client_hosts": 3,
    "kernel": "6.1.0",
    "processor": "EPYC",
    "processors": 17,
    "memory_bytes": 77_000_000_001,
    "directory": "/srv/scratch",
    "file_system": "ext4",
    "mount_point": "/srv",
    "mount_source": "/dev/vda1",
    "mount_options": "rw,noatime",
    "device": "vda",
    "device_model": "QEMU",
    "device_kind": "ssd",
    "device_bytes": 99_000_000_001,
}


def fill(store: Store) -> list[str]:
    table = pl.DataFrame({"seconds": [0.5, 1.5]})
    return [
        store.add(
            document(seed),
            {"series": table},
            kind="measured",
            started=datetime(2026, 1, seed, tzinfo=UTC),
            labels={"disk": "new"},
            host={"machine": "x86_64", "system": "Linux"},
            environment=ENVIRONMENT,
        )
        for seed in (5, 9)
    ]


def flipped(value: Any) -> Any:
    """The value with its lowest bit flipped, of a text that of a character in the middle."""
    if isinstance(value, str):
        at = len(value) // 2
        return value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :]
    if isinstance(value, float):
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return struct.unpack("<d", struct.pack("<q", bits ^ 1))[0]
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return value ^ 1


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_flipped_bit_of_any_column_is_found(store: Store, table: str, column: str) -> None:
    fill(store)
    assert store.check().damaged == []
    if (table, column) == ("contents", "data") and isinstance(store.location, Directory):
        # The table is in a file.
        (path, *_) = store.location.tables.glob("*/*")
        path.write_bytes(flipped(path.read_bytes()))
    else:
        _flip(store, schema.metadata.tables[table], column)
    assert store.check().damaged != []


def _flip(store: Store, table: sa.Table, column: str) -> None:
    with Database(store.location).writing() as connection:
        if connection.dialect.name == "postgresql":
            # Damage obeys no foreign keys.
            connection.exec_driver_sql("SET session_replication_role = replica")
        else:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        # Of numbered rows the last: another of the same number would be refused.
        last = sa.select(table).order_by(*(it.desc() for it in table.primary_key.columns)).limit(1)
        row = connection.execute(last).mappings().one()
        key = sa.and_(*(it == row[it.name] for it in table.primary_key.columns))
        value = flipped(row[column])
        assert connection.execute(table.update().where(key).values({column: value})).rowcount == 1


def test_random_bits_of_a_catalogue(tmp_path: Path) -> None:
    """Where a flipped bit changes what is read, it is found."""
    store = hr.store.open(tmp_path / "store")
    fill(store)
    path = tmp_path / "store" / "catalogue.sqlite"
    whole = path.read_bytes()
    before = _dump(path)
    changed = 0
    choice = random.Random(1)
    for _ in range(FLIPS):
        content = bytearray(whole)
        content[choice.randrange(len(content))] ^= 1 << choice.randrange(8)
        path.write_bytes(content)
        if _dump(path) == before:
            continue
        changed += 1
        try:
            damaged = hr.store.open(tmp_path / "store").check().damaged
        except (StoreFailure, hr.store.StoreError):
            continue
        assert damaged != []
    assert changed > FLIPS // 20


def _dump(path: Path) -> object:
    """Everything that can be read in a catalogue, or the error."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            return {
                table.name: connection.execute(f"SELECT * FROM {table.name} ORDER BY 1").fetchall()
                for table in TABLES
            }
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)


def test_a_bit_where_a_value_is_stored(tmp_path: Path) -> None:
    """Tables and indexes have copies of a value: each is found, in the file itself."""
    store = hr.store.open(tmp_path / "store")
    (first, _) = fill(store)
    path = tmp_path / "store" / "catalogue.sqlite"
    whole = path.read_bytes()
    texts = (first, "marked", "x86_64", "Linux", "storage-7", "0.1.0")
    for value in (*map(str.encode, texts), struct.pack(">d", 1.25)):
        places = list(_places(whole, value))
        assert places
        for at in places:
            content = bytearray(whole)
            content[at + len(value) // 2] ^= 1
            path.write_bytes(content)
            assert hr.store.open(tmp_path / "store").check().damaged != [], (value, at)


def _places(content: bytes, value: bytes) -> Iterator[int]:
    at = content.find(value)
    while at >= 0:
        yield at
        at = content.find(value, at + 1)


def test_labels_change_and_the_checksum_with_them(store: Store) -> None:
    first, second = fill(store)
    store.set_labels(first, {"disk": "old", "note": "moved"})
    store.set_labels(second, {"disk": None})
    assert store.check().damaged == []
    assert store.shown(first).labels == {"disk": "old", "note": "moved"}


@pytest.mark.parametrize(
    "use",
    [
        lambda store, first: store.set_labels(first, {"note": "moved"}),
        lambda store, first: store.export([first], os.devnull),
    ],
)
def test_damage_is_not_given_a_new_checksum(
    store: Store, use: Callable[[Store, str], object]
) -> None:
    first, _ = fill(store)
    with Database(store.location).writing() as connection:
        runs = schema.runs
        connection.execute(runs.update().where(runs.c.id == first).values(machine="y86_64"))
    with pytest.raises(StoreFailure, match=f"the rows of {first}: they do not match"):
        use(store, first)
    assert store.check().damaged != []
    store.remove(first)
    assert store.check().damaged == []
