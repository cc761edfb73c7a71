"""The store when something is wrong: full, read-only, damaged, of another version."""

import contextlib
import json
import os
import sqlite3
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import headrace as hr
from conftest import ROOT, Command
from headrace.store import Store, StoreError, StoreFailure, schema
from headrace.store.database import Database
from headrace.store.migration import upgrade
from headrace.store.version import HEAD, VERSION_TABLE
from test_cli_errors import refused
from test_cli_run import strict

pytestmark = pytest.mark.usefixtures("place", "real_store")

FIRST = ROOT / "tests" / "data" / "store" / "first.sql"
"""A catalogue as the first schema had it: one result with replications, one without."""


def mounted(*arguments: object) -> bool:
    command = ["mount", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def kept_in_vain(headrace: Command, small: Path, *parts: str) -> None:
    """A run whose result cannot be kept: a warning that says all of `parts`."""
    ended = headrace("run", small, "--json")
    assert ended.returncode == 0
    assert strict(ended.stdout)["seed"] == 1
    assert ended.stderr.startswith("warning: the result is not in the store: ")
    assert ended.stderr.count("\n") == 1
    for part in parts:
        assert part in ended.stderr


def rows(connection: sa.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in a catalogue, by table."""
    found = {}
    for table in schema.metadata.sorted_tables:
        query = sa.select(table).order_by(*table.primary_key.columns)
        found[table.name] = [tuple(row) for row in connection.execute(query)]
    return found


def test_the_schema_is_what_the_migrations_make(store: Store) -> None:
    with Database(store.location).writing() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert context.get_current_revision() == HEAD
        assert compare_metadata(context, schema.metadata) == []


def test_a_catalogue_of_the_first_schema_is_upgraded(store: Store, place: Path) -> None:
    before = _first(store)
    (older, newer) = store.list()["id"].to_list()[::-1]
    assert (older, newer) == ("1m81ts0h6gabcd", "1m81ts0j6gabcd")
    with Database(store.location).reading() as connection:
        after = rows(connection)
    for table, entries in before.items():
        # What later schemas say of runs is not known of these.
        added = [(None,)] * len(entries) if table == "runs" else [()] * len(entries)
        assert after[table] == [entry + more for entry, more in zip(entries, added, strict=True)]
    document = store.record(newer).contents
    wanted = [
        (newer, number, it["seed"], *what)
        for number, it in enumerate(document["replications"], 1)
        for what in (
            ("all", "latency_mean_s", it["mean_latency"]),
            ("read", "throughput_bytes_per_s", it["throughput"]["read"]),
        )
    ]
    assert after["repetitions"] == wanted
    assert store.list(labels={"disk": "old"})["id"].to_list() == [older]
    moved = store.compare([older, newer]).table.filter(figure="throughput_bytes_per_s")
    assert moved["samples"].to_list() == [1, 3]


def _first(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Fills a store with a catalogue of the first schema; gives its rows."""
    statements = FIRST.read_text().split(";\n")
    database = Database(store.location)
    if hasattr(store.location, "path"):
        store.location.path.mkdir()
    with database._engine.execution_options(writes=True).begin() as connection:
        upgrade(connection, None, store.location, "0001")
        for statement in statements:
            if statement.strip():
                connection.execute(sa.text(statement.replace(":", "\\:")))
    with database._engine.begin() as connection:
        tables = ("runs", "labels", "figures", "contents")
        return {
            name: [
                tuple(row)
                for row in connection.execute(
                    sa.select(*(it for it in table.c if it.name != "calls")).order_by(
                        *table.primary_key.columns
                    )
                )
            ]
            for name in tables
            for table in [schema.metadata.tables[name]]
        }


def test_an_upgrade_that_fails_changes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _first(store)
    engine = Database(store.location)._engine

    def broken(*_: object) -> None:
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(json, "loads", broken)
        with pytest.raises(ValueError, match="broken"):
            store.list()
    with engine.begin() as connection:
        found = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()
        assert found == "0001"
        assert not sa.inspect(connection).has_table("repetitions")
        assert connection.exec_driver_sql("SELECT count(*) FROM runs").scalar() == len(
            before["runs"]
        )
    assert store.list().height == len(before["runs"])


def test_a_catalogue_of_a_newer_version_is_left_alone(store: Store, result: hr.Result) -> None:
    identifier = hr.simulate.keep(result, store)
    database = Database(store.location)
    with database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    with database._engine.begin() as connection:
        before = rows(connection)
    for asked in (
        lambda: store.list(),
        lambda: store.remove(identifier),
        lambda: hr.simulate.keep(result, store),
        lambda: store.compare([identifier, "last"]),
    ):
        with pytest.raises(StoreError, match=f'schema is "9999".*up to "{HEAD}".*newer Headrace'):
            asked()
    with database._engine.begin() as connection:
        assert rows(connection) == before


def test_a_newer_catalogue_is_not_touched_by_commands(
    headrace: Command, small: Path, place: Path
) -> None:
    assert headrace("run", small).returncode == 0
    with contextlib.closing(sqlite3.connect(place / "catalogue.sqlite")) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
        connection.commit()
    before = content(place)
    kept_in_vain(headrace, small, '"9999"', "newer Headrace")
    refused(headrace("results", "list"), '"9999"', "newer Headrace")
    refused(headrace("run", "results:last"), '"9999"', "newer Headrace")
    assert content(place) == before


def content(place: Path) -> dict[str, bytes]:
    files = (path for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): path.read_bytes() for path in files}


@pytest.mark.parametrize("wrong", [b"no database", b"", bytes(range(256)) * 64])
def test_a_catalogue_that_is_none(
    wrong: bytes, headrace: Command, small: Path, place: Path
) -> None:
    place.mkdir()
    (place / "catalogue.sqlite").write_bytes(wrong)
    if not wrong:
        # What a process leaves that is killed as it makes one.
        assert headrace("run", small).returncode == 0
        assert hr.store.open().list().height == 1
        return
    kept_in_vain(headrace, small, "catalogue.sqlite", "not a database", "HEADRACE_STORE")
    refused(headrace("results", "list"), "catalogue.sqlite", "not a database", status=1)
    assert content(place) == {"catalogue.sqlite": wrong}


def test_tables_that_are_damaged_or_gone(headrace: Command, small: Path, place: Path) -> None:
    assert headrace("run", small).returncode == 0
    store = hr.store.open()
    (series,) = place.glob("tables/*/series.parquet")
    whole = series.read_bytes()
    for damage in (b"", whole[:-9], whole[:50] + b"x" + whole[51:]):
        series.write_bytes(damage)
        with pytest.raises(StoreFailure, match="series.parquet: it does not match its checksum"):
            store.table("last", "series")
    series.unlink()
    with pytest.raises(StoreFailure, match="series.parquet: no such file"):
        store.table("last", "series")
    refused(headrace("results", "export", "last", "-o", place / "x.zip"), "series", status=1)
    assert not (place / "x.zip").exists()
    # The rest is whole.
    assert headrace("results", "show", "last").returncode == 0
    assert headrace("run", "results:last", "--no-store").returncode == 0
    assert headrace("results", "remove", "last", "--yes").returncode == 0
    assert store.list().height == 0


def test_what_a_killed_run_leaves_is_removed(
    headrace: Command, small: Path, place: Path, result: hr.Result
) -> None:
    store = hr.store.open()
    identifier = hr.simulate.keep(result, store)
    old, young, foreign = (place / "tables" / name for name in ("0" * 14, "1" * 14, "notes"))
    for directory in (old, young, foreign):
        directory.mkdir()
        (directory / "series.parquet").write_bytes(b"PAR1")
    # A run that ends just now has no result yet either.
    for directory in (old, foreign):
        os.utime(directory, (0, 0))
    checked = store.check()
    assert checked == (1, [old], []) and not old.exists()
    assert young.exists() and foreign.exists()
    ended = headrace("results", "check")
    assert (ended.returncode, ended.stderr) == (0, "")
    (place / "tables" / identifier / "series.parquet").unlink()
    ended = headrace("results", "check", "--json")
    (damaged,) = strict(ended.stdout)["damaged"]
    assert ended.returncode == 1 and "series.parquet: no such file" in damaged
    assert store.list().height == 1


def test_a_full_disk(headrace: Command, small: Path, tmp_path: Path) -> None:
    place = tmp_path / "store"
    place.mkdir()
    with small_disk(place):
        kept = 0
        for _ in range(30):
            ended = headrace("run", small, "--json")
            assert ended.returncode == 0
            strict(ended.stdout)
            if ended.stderr:
                break
            kept += 1
        assert kept > 0
        assert ended.stderr.startswith("warning: the result is not in the store: ")
        assert ended.stderr.count("\n") == 1
        assert "full" in ended.stderr or "No space" in ended.stderr
        store = hr.store.open()
        assert store.list().height == kept
        for identifier in store.list()["id"]:
            assert hr.load_result(f"results:{identifier}").series.height > 0
        assert len(list((place / "tables").iterdir())) == kept


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[None]:
    if not mounted("-t", "tmpfs", "-o", "size=256k", "none", place):
        pytest.skip("no small disk can be mounted: this needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_store_that_may_only_be_read(headrace: Command, small: Path, place: Path) -> None:
    assert headrace("run", small).returncode == 0
    before = content(place)
    with read_only(place):
        listed = headrace("results", "list", "--json")
        assert (listed.returncode, listed.stderr) == (0, "")
        assert len(strict(listed.stdout)["results"]) == 1
        assert headrace("results", "show", "last").returncode == 0
        kept_in_vain(headrace, small, str(place))
        refused(headrace("results", "remove", "last", "--yes"), "readonly", status=1)
    assert content(place) == before


@contextlib.contextmanager
def read_only(place: Path) -> Iterator[None]:
    """Root may write everywhere but to a file system that is read-only."""
    if os.geteuid() == 0:
        if not mounted("--bind", place, place):
            pytest.skip("nothing can be mounted here")
        try:
            assert mounted("-o", "remount,bind,ro", place)
            yield
        finally:
            subprocess.run(["umount", place], check=True)
        return
    everything = [place, *place.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path in everything:
            path.chmod(0o755)


def test_archives_that_are_not_whole(
    headrace: Command, small: Path, tmp_path: Path, result: hr.Result
) -> None:
    source = hr.store.open(tmp_path / "source")
    ids = [hr.simulate.keep(result, source) for _ in range(2)]
    good = tmp_path / "good.zip"
    source.export(ids, good)
    with zipfile.ZipFile(good) as archive:
        entries: dict[str, bytes] = {it: archive.read(it) for it in archive.namelist()}
    listed, second = "headrace-results.json", f"{ids[1]}/result.json"
    told = json.loads(entries[second])
    # Of an archive with digests the first check is theirs: what follows is looked at as well.
    undigested = json.dumps({"format": 1, "results": ids}).encode()
    by_digest = entries[second].replace(b'"count": ', b'"count": 1')
    cases: dict[str, dict[str, bytes | None]] = {
        "no list": {listed: None},
        "a newer format": {listed: b'{"format": 2}'},
        "no identifiers": {listed: b'{"format": 1, "results": ["../x"]}'},
        "no result": {second: None},
        "no JSON": {second: b"{"},
        "NaN": {second: entries[second].replace(b'"seed": 1', b'"seed": NaN')},
        "deep": {second: b"[" * 100_000},
        "a list": {second: b"[]"},
        "no document": {second: changed(told, document=None)},
        "an empty document": {second: changed(told, document={})},
        "another kind": {second: changed(told, kind="imagined")},
        "no date": {second: changed(told, started="yesterday")},
        "labels": {second: changed(told, labels={"a": 1})},
        "a path": {second: changed(told, tables={"../../x": {"sha256": ""}})},
        "another result's": {second: changed(told, id=ids[0])},
        "a count of text": {second: entries[second].replace(b'"count": ', b'"count": "x", "y": ')},
        "a result out of the list": {listed: undigested.replace(f', "{ids[1]}"'.encode(), b"")},
        "a table less": {f"{ids[1]}/series.parquet": None},
        "a table changed": {f"{ids[1]}/series.parquet": b"PAR1"},
    }
    changes_of_digested: dict[str, dict[str, bytes | None]] = {
        "figures altered": {second: by_digest},
        "labels altered": {second: changed(told, labels={"a": "b"})},
        "digests less": {listed: json.dumps(json.loads(entries[listed]) | {"sha256": {}}).encode()},
        "a digest of no text": {
            listed: json.dumps(
                json.loads(entries[listed]) | {"sha256": dict.fromkeys(ids)}
            ).encode()
        },
    }
    assert by_digest != entries[second]
    every = [(what, {**entries, listed: undigested, **it}) for what, it in cases.items()]
    every += [(what, {**entries, **it}) for what, it in changes_of_digested.items()]
    bad = tmp_path / "bad.zip"
    for what, changes in every:
        archived(bad, changes)
        with pytest.raises(StoreError) as raised:
            hr.store.open().import_archive(bad)
        assert str(raised.value).startswith(f"{bad}: "), what
        assert str(raised.value).count(str(bad)) == 1, what
        assert "\n" not in str(raised.value), what
        assert hr.store.open().list().height == 0, what
    whole = good.read_bytes()
    for cut in (4, 100, len(whole) // 2, len(whole) - 1):
        bad.write_bytes(whole[:cut])
        refused(headrace("results", "import", bad), "bad.zip", "headrace results export")
    refused(headrace("results", "import", small), "small.toml", "not a JSON object")
    refused(headrace("results", "import", tmp_path), str(tmp_path))
    # As earlier versions wrote them.
    archived(bad, entries | {listed: undigested})
    assert hr.store.open().import_archive(bad) == dict.fromkeys(ids, True)


def archived(path: Path, entries: Mapping[str, bytes | None]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            if data is not None:
                archive.writestr(name, data)


def changed(entry: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps(entry | changes).encode()
