"""The store after kills, with several processes at once, and with damage of any kind."""

import contextlib
import csv
import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
from command import PROGRESS
from conftest import SMALL
from headrace.cli.app import run
from headrace.parquet import as_parquet
from headrace.store import Store, StoreError, StoreFailure, archive, table_size
from test_cli_run import strict
from test_store import document
from test_store_faults import _first, read_only

pytestmark = pytest.mark.usefixtures("place")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """An archive of two results, and their identifiers."""
    folder = tmp_path_factory.mktemp("exported")
    source = hr.store.open(folder / "source")
    result = hr.run(hr.load(SMALL))
    ids = [hr.simulate.keep(result, source, labels={"n": str(n)}) for n in range(2)]
    source.export(ids, folder / "results.zip")
    return folder / "results.zip", ids


DIES = (
    "import os, signal\n"
    "from headrace.store import {module}\n"
    "{module}.{name} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
    "from headrace.cli import main; main()"
)
"""A command that is killed where it calls a function."""


@pytest.mark.parametrize(
    ("module", "name"),
    [("catalogue", "insert"), ("catalogue", "publish_files"), ("parquet_tables", "remove_files")],
)
def test_an_import_that_was_killed_does_not_block_the_next(
    module: str, name: str, exported: tuple[Path, list[str]], place: Path
) -> None:
    file, ids = exported
    if module == "parquet_tables":
        # As killed imports of earlier versions left them: in the place of the result's own.
        (place / "tables" / ids[0]).mkdir(parents=True)
        (place / "tables" / ids[0] / "series.parquet").write_bytes(b"PAR1")
    code = DIES.format(module=module, name=name)
    command = [sys.executable, "-c", code, "results", "import", str(file)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    store = hr.store.open()
    assert store.list().height == 0
    assert run(["results", "import", str(file)]) == 0
    assert sorted(store.list()["id"]) == sorted(ids)
    assert store.check().damaged == []
    for directory in (place / "tables").iterdir():
        os.utime(directory, (0, 0))
    store.check()
    assert sorted(it.name for it in (place / "tables").iterdir()) == sorted(ids)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_several_imports_at_once(
    database: str,
    exported: tuple[Path, list[str]],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if database == "postgresql":
        monkeypatch.setenv("HEADRACE_STORE", request.getfixturevalue("postgresql"))
    file, ids = exported
    saved = tmp_path / "saved.json"
    hr.run(hr.load(SMALL, {"run.seed": 7})).save(saved)
    for what, wanted in ((file, 2), (saved, 1)):
        command = [sys.executable, "-m", "headrace", "results", "import", str(what)]
        processes = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        taken = 0
        for process in processes:
            output, errors = process.communicate(timeout=300)
            # A slow machine gets lines of progress.
            assert (process.returncode, PROGRESS.sub("", errors)) == (0, "")
            taken += int(output.split(": ")[1].split()[0])
        assert taken == wanted
    assert hr.store.open().list().height == len(ids) + 1


def test_the_second_of_two_imports_finds_the_result(
    store: Store, exported: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """Both have looked before either wrote."""
    file, ids = exported
    assert store.import_archive(file) == dict.fromkeys(ids, True)
    record, contents = store.record(ids[0]), store.contents(ids[0])
    tables = {it.name: store.parquet(ids[0], it.name) for it in contents}
    assert store.keep(record, tables) == (ids[0], False)
    made = document()
    first = store.add_once(made, started=datetime.now(UTC))
    assert first[1] and store.add_once(made, started=datetime.now(UTC)) == (first[0], False)
    assert store.check().damaged == []
    assert store.list().height == len(ids) + 1


def test_a_result_that_is_imported_again_while_it_is_removed(
    exported: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from headrace.store import queries

    file, (first, _) = exported
    store = hr.store.open()
    store.import_archive(file)
    removed = queries.remove

    def then_imported(connection: sa.Connection, identifier: str) -> None:
        removed(connection, identifier)
        connection.commit()
        hr.store.open().import_archive(file)

    monkeypatch.setattr(queries, "remove", then_imported)
    store.remove(first)
    assert store.check().damaged == []
    assert store.table(first, "series").height > 0


def test_check_names_a_document_that_was_altered(
    exported: tuple[Path, list[str]], place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, (first, second) = exported
    hr.store.open().import_archive(file)
    _execute(place, "UPDATE runs SET document = replace(document, '1', '2') WHERE id = ?", first)
    capfd.readouterr()
    assert run(["results", "check"]) == 1
    told = capfd.readouterr().out
    assert f"damaged: runs.document of {first}: it does not match its checksum" in told
    assert second not in told and "2 results, 1 damaged or gone" in told
    for command in (["show", first], ["export", first, "-o", str(place / "x.zip")]):
        assert run(["results", *command]) == 1
        errors = capfd.readouterr().err
        assert first in errors and len(errors.splitlines()) == 1
    assert run(["results", "show", second]) == 0
    assert run(["results", "remove", first, "--yes"]) == 0
    capfd.readouterr()
    assert run(["results", "check"]) == 0


def _execute(place: Path, statement: str, *values: object) -> None:
    with contextlib.closing(sqlite3.connect(place / "catalogue.sqlite")) as connection:
        connection.execute(statement, values)
        connection.commit()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE runs SET started = 'yesterday' WHERE id = ?", "runs.started"),
        ("UPDATE runs SET started = 5.5 WHERE id = ?", "runs.started"),
        ("UPDATE runs SET name = x'ff00' WHERE id = ?", "runs.name"),
        ("UPDATE runs SET seed = 'x' WHERE id = ?", "runs.seed"),
        ("UPDATE figures SET value = 9e999 WHERE run_id = ?", "figures.value"),
        ("UPDATE figures SET value = 'x' WHERE run_id = ?", "figures.value"),
        ("UPDATE labels SET value = x'00' WHERE run_id = ?", "labels.value"),
    ],
)
def test_a_damaged_row_is_left_out_and_named(
    statement: str,
    told: str,
    exported: tuple[Path, list[str]],
    place: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    file, (first, second) = exported
    hr.store.open().import_archive(file)
    _execute(place, statement, first)
    capfd.readouterr()
    assert run(["results", "list", "--json"]) == 1
    listed = capfd.readouterr()
    (entry,) = strict(listed.out)["results"]
    assert entry["id"] == second
    assert listed.err.startswith(f"damaged and omitted: {told} of {first}")
    assert told in strict(listed.out)["damaged"][0]
    assert run(["results", "check"]) == 1
    assert f"damaged: {told} of {first} = " in capfd.readouterr().out
    with pytest.raises(StoreFailure, match="results check"):
        hr.store.open().shown(first)
    assert run(["results", "remove", first, "--yes"]) == 0
    assert run(["results", "list"]) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE figures",
        "DROP TABLE runs",
        "DELETE FROM headrace_schema",
        "DROP TABLE headrace_schema",
        "UPDATE headrace_schema SET version_num = 4",
        "ALTER TABLE runs RENAME COLUMN started TO begun",
    ],
)
def test_a_catalogue_without_its_tables(
    statement: str,
    exported: tuple[Path, list[str]],
    place: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    hr.store.open().import_archive(exported[0])
    _execute(place, statement)
    for directory in (place / "tables").iterdir():
        os.utime(directory, (0, 0))
    for command in (["list"], ["check"], ["show", "last"], ["list", "--json"]):
        capfd.readouterr()
        assert run(["results", *command]) in (1, 2)
        ended = capfd.readouterr()
        assert "internal error" not in ended.err
        assert len(ended.err.splitlines()) == 1 or "damaged" in ended.out
    # Tables whose results cannot be read are not taken for those of killed runs.
    assert len(list((place / "tables").iterdir())) == 2


@given(data=st.data())
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_any_damage_of_the_catalogue_is_told(
    exported: tuple[Path, list[str]],
    tmp_path_factory: pytest.TempPathFactory,
    capfd: pytest.CaptureFixture[str],
    data: st.DataObject,
) -> None:
    source = exported[0].parent / "source"
    mine = tmp_path_factory.mktemp("flipped") / "store"
    shutil.copytree(source, mine)
    content = bytearray((mine / "catalogue.sqlite").read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    (mine / "catalogue.sqlite").write_bytes(content)
    before, os.environ["HEADRACE_STORE"] = os.environ["HEADRACE_STORE"], str(mine)
    try:
        for command in (["list"], ["check"], ["list", "--json"], ["check", "--json"]):
            capfd.readouterr()
            status = run(["results", *command])
            ended = capfd.readouterr()
            assert status in (0, 1, 2)
            assert "internal error" not in ended.err, ended.err
            assert "Traceback" not in ended.err, ended.err
        assert len(list((mine / "tables").iterdir())) == 2
    finally:
        os.environ["HEADRACE_STORE"] = before


def test_an_older_catalogue_that_may_only_be_read(place: Path) -> None:
    store = hr.store.open()
    before = _first(store)
    content = (place / "catalogue.sqlite").read_bytes()
    with read_only(place):
        listed = hr.store.open().listed(hr.store.make_filter())
        assert len(listed.entries) == len(before["runs"]) and not listed.damaged
        assert hr.store.open().compare([it.id for it in listed.entries]).table.height > 0
        with pytest.raises(StoreFailure, match="readonly"):
            hr.store.open().remove(listed.entries[0].id)
    assert (place / "catalogue.sqlite").read_bytes() == content


def test_a_list_is_in_pages(capfd: pytest.CaptureFixture[str]) -> None:
    store = hr.store.open()
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    ids = [
        store.add(document(name=f"n{day % 2}"), started=begun + timedelta(days=day))
        for day in range(105)
    ][::-1]

    def listed(*options: str) -> dict[str, Any]:
        capfd.readouterr()
        assert run(["results", "list", "--json", *options]) == 0
        return strict(capfd.readouterr().out)

    def shown(*options: str) -> list[str]:
        return [it["id"] for it in listed(*options)["results"]]

    assert shown() == ids[:100] and listed()["total"] == 105
    assert shown("--page", "2") == ids[100:]
    assert shown("--limit", "10", "--page", "3") == ids[20:30]
    assert shown("--all") == ids
    assert shown("--page", "3") == []
    assert listed("--name", "n1", "--limit", "5")["total"] == 52
    assert run(["results", "list", "--limit", "10", "--page", "2"]) == 0
    told = capfd.readouterr().out
    assert "10 of 105 results, page 2 of 11" in told
    assert run(["results", "list", "--all"]) == 0
    assert "page" not in capfd.readouterr().out
    assert run(["results", "list", "--all", "--page", "2"]) == 2


def test_what_is_asked_of_the_database_does_not_grow_with_the_results() -> None:
    """In statements: a check that looked up each result by itself took minutes of thousands."""
    store = hr.store.open()
    asked = []
    for count in (5, 40):
        while store.list().height < count:
            store.add(document())
        statements = 0

        def counted(*_: object) -> None:
            nonlocal statements
            statements += 1

        engine = hr.store.open()._database._engine
        fresh = hr.store.open()
        fresh._database.__dict__["_engine"] = engine
        sa.event.listen(engine, "before_cursor_execute", counted)
        assert fresh.check().results == count
        fresh.listed(hr.store.make_filter())
        # Stores of a catalogue share its engine.
        sa.event.remove(engine, "before_cursor_execute", counted)
        asked.append(statements)
    assert asked[0] == asked[1] > 0


@pytest.mark.parametrize(
    ("name", "size"), [("series.parquet", 200 << 20), ("result.json", 200 << 20)]
)
def test_an_archive_that_expands_without_end(
    name: str, size: int, exported: tuple[Path, list[str]], tmp_path: Path
) -> None:
    file, ids = exported
    bomb = tmp_path / "bomb.zip"
    _with_entry(file, bomb, f"{ids[0]}/{name}", size)
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(StoreError, match=r"bomb.zip: .* expand to .*100 times as much"):
        hr.store.open().import_archive(bomb)
    assert hr.store.open().list().height == 0


def test_an_archive_for_which_there_is_no_memory(
    exported: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "SHARE_OF_MEMORY", 1 << 40)
    with pytest.raises(StoreError, match="import it on a machine with more"):
        hr.store.open().import_archive(exported[0])
    monkeypatch.setattr(archive, "SHARE_OF_MEMORY", 4)
    monkeypatch.setattr(archive, "LARGEST_ENTRY", 100)
    with pytest.raises(StoreError, match=r"\.parquet expands to .*, above 100 B"):
        hr.store.open().import_archive(exported[0])


def test_an_archive_that_states_less_than_it_holds(
    exported: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """The stated size is all that is expanded."""
    file, ids = exported
    bomb = tmp_path / "bomb.zip"
    _with_entry(file, bomb, f"{ids[0]}/series.parquet", 64 << 20)
    content = bomb.read_bytes()
    assert content.count((64 << 20).to_bytes(4, "little")) >= 2
    bomb.write_bytes(content.replace((64 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    with pytest.raises(StoreError, match="bomb.zip: expected results"):
        hr.store.open().import_archive(bomb)


def test_a_table_of_few_bytes_and_without_end(
    exported: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parquet writes equal values once."""
    file, (first, _) = exported
    few = as_parquet(pl.DataFrame({"x": pl.repeat(7, 5_000_000, eager=True)}))
    assert len(few) < 1 << 16
    source = hr.store.open(tmp_path / "source")
    source.import_archive(file)
    record = source.record(first)
    content = {"series": few}
    made = replace(record, id="0" * 14)
    source.keep(made, content)
    source.export([made.id], tmp_path / "large.zip")
    assert hr.store.open().import_archive(tmp_path / "large.zip") == {made.id: True}
    hr.store.open().remove(made.id)
    monkeypatch.setattr(table_size, "LARGEST", 1 << 20)
    with pytest.raises(StoreError, match=r"large.zip: .*series.parquet: its 5,000,000 rows take"):
        hr.store.open().import_archive(tmp_path / "large.zip")
    assert hr.store.open().list().height == 0


def _with_entry(source: Path, target: Path, name: str, size: int) -> None:
    """Copy an archive; its entry `name` becomes `size` bytes of 0."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            if entry.filename != name:
                new.writestr(entry.filename, old.read(entry.filename))
        new.writestr(name, bytes(size), zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("inside", ["", "/below/it"])
def test_a_store_that_is_a_file(
    inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADRACE_STORE", f"{tmp_path}/file{inside}")
    for command in (["list"], ["check"], ["path"], ["show", "last"]):
        capfd.readouterr()
        assert run(["results", *command]) == 2
        (told,) = capfd.readouterr().err.splitlines()
        assert told.startswith(f'HEADRACE_STORE = "{tmp_path}/file{inside}": ')
        assert f"{tmp_path}/file is a file: expected a directory" in told


def test_results_as_csv(
    exported: tuple[Path, list[str]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, ids = exported
    store = hr.store.open()
    store.import_archive(file)
    table = tmp_path / "figures.csv"
    assert run(["results", "export", *ids, "-o", str(table)]) == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert list(dict.fromkeys(row["id"] for row in rows)) == ids
    found = {(row["id"], row["operation"], row["figure"]): float(row["value"]) for row in rows}
    wanted = store.figures(ids).iter_rows()
    assert found == {(it[0], it[1], it[2]): it[3] for it in wanted}
    assert {row["labels"] for row in rows} == {"n=0", "n=1"}
    for wrong in ("x.json", "x.parquet", "x.tar.gz"):
        capfd.readouterr()
        assert run(["results", "export", *ids, "-o", str(tmp_path / wrong)]) == 2
        (told,) = capfd.readouterr().err.splitlines()
        assert ".zip" in told and ".csv" in told
        assert not (tmp_path / wrong).exists()
