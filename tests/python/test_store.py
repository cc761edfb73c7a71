"""The store: what goes in comes out, whatever the database."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import polars as pl
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
from conftest import SMALL
from headrace.store import Store, StoreError, StoreFailure, queries, schema
from headrace.store.location import Server
from headrace.store.record import moment, timestamp


def test_what_is_kept_is_what_was_given(store: Store, result: hr.Result) -> None:
    started = datetime(2026, 2, 28, 23, 59, 59, 123456, tzinfo=UTC)
    identifier = hr.simulate.keep(result, store, started=started, labels={"disk": "new", "a": "ä"})
    record = store.record(identifier)
    assert record.contents == result.document
    assert (record.kind, record.name, record.seed) == ("simulated", "small", 1)
    assert record.scenario == result.document["scenario"]["toml"]
    assert record.labels == {"disk": "new", "a": "ä"}
    assert moment(record.started) == started
    series = store.table(identifier, "series")
    assert series.equals(result.series)
    assert series.schema == result.series.schema
    assert store.table(identifier, "latency_distribution").equals(result.latency_distribution)
    (row,) = store.list().iter_rows(named=True)
    assert row["id"] == identifier
    assert row["started"] == started
    assert row["labels"] == ["a=ä", "disk=new"]


def test_figures_are_those_of_the_document(store: Store, result: hr.Result) -> None:
    identifier = hr.simulate.keep(result, store)
    document = result.document
    wanted = {
        (operation, figure): value
        for operation, latency in document["latency"].items()
        for figure, value in (
            (f"latency_{name}_s", latency[name]) for name in ("mean", "p50", "p95", "p99")
        )
    }
    for operation, rates in document["operations"].items():
        wanted[operation, "operations_per_s"] = rates["per_second"]
    for operation, throughput in document["throughput"].items():
        wanted[operation, "throughput_bytes_per_s"] = throughput
    found = store.figures([identifier])
    assert {(it[1], it[2]): it[3] for it in found.iter_rows()} == wanted
    assert found["id"].unique().to_list() == [identifier]
    assert store.figures().equals(found)


def test_a_reader_sees_one_state_while_another_labels(postgresql: str, result: hr.Result) -> None:
    store = hr.store.open(postgresql)
    identifier = hr.simulate.keep(result, store)
    with store.reading() as connection:
        before = queries.checksums(connection, schema.metadata, [identifier])
        hr.store.open(postgresql).set_labels(identifier, {"rack": "7"})
        queries.check_rows(connection, identifier)
        assert queries.checksums(connection, schema.metadata, [identifier]) == before
    assert store.shown(identifier).labels == {"rack": "7"}


def test_lists_are_of_what_is_wanted_the_newest_first(store: Store) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    for day, (kind, name, labels) in enumerate(
        [
            ("simulated", "a", {}),
            ("measured", "a", {"host": "x", "disk": "new"}),
            ("simulated", "b", {"host": "x"}),
            ("measured", "b", {"host": "y"}),
        ]
    ):
        store.add(
            document(name=name), kind=kind, started=begun + timedelta(days=day), labels=labels
        )
    everything = store.list()["id"].to_list()
    assert everything == sorted(everything, reverse=True)

    def days(**which: object) -> list[int]:
        listed = store.list(**which)  # type: ignore[arg-type]
        return [(it - begun).days for it in listed["started"]]

    assert days() == [3, 2, 1, 0]
    assert days(limit=2) == [3, 2]
    assert days(kind="measured") == [3, 1]
    assert days(name="a") == [1, 0]
    assert days(name="a", kind="measured") == [1]
    assert days(labels={"host": "x"}) == [2, 1]
    assert days(labels={"host": "x", "disk": "new"}) == [1]
    assert days(labels={"host": "new"}) == []
    assert days(since=begun + timedelta(days=2)) == [3, 2]
    assert days(since="2026-01-03T00:00:00Z") == [3, 2]
    assert days(since="1 s") == []
    assert store.find("last") == everything[0]


def test_a_store_without_results_is_empty(store: Store, tmp_path: Path) -> None:
    assert store.list().height == 0
    with pytest.raises(StoreError, match="the store is empty"):
        store.find("last")
    # To ask makes nothing.
    assert not (tmp_path / "store").exists()
    if isinstance(store.location, Server):
        with sa.create_engine(store.location.url).connect() as connection:
            assert sa.inspect(connection).get_table_names() == []


def test_a_beginning_will_do_if_it_is_unique(store: Store) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)
    first, second, third = (
        store.add(document(), started=started) for started in (early, late, late)
    )
    assert store.find(first[:3]) == first
    assert store.find(first[:3].upper()) == first
    assert store.find(second) == second
    with pytest.raises(StoreError) as raised:
        store.find(second[:9])
    assert all(part in str(raised.value) for part in (second, third, "2 results"))
    for wrong in ("", "zzz", "%", "_", first + "0"):
        with pytest.raises(StoreError, match="there is no result"):
            store.find(wrong)


def test_what_is_removed_is_gone(store: Store, result: hr.Result, tmp_path: Path) -> None:
    kept, removed = (hr.simulate.keep(result, store, labels={"a": "b"}) for _ in range(2))
    assert store.remove(removed) == removed
    assert store.list()["id"].to_list() == [kept]
    assert store.table(kept, "series").equals(result.series)
    with pytest.raises(StoreError, match="no result"):
        store.remove(removed)
    tables = tmp_path / "store" / "tables"
    if tables.exists():
        assert [it.name for it in tables.iterdir()] == [kept]


def test_a_table_that_it_does_not_have(store: Store, result: hr.Result) -> None:
    identifier = hr.simulate.keep(result, store)
    with pytest.raises(StoreError, match="expected one of: latency_distribution, series"):
        store.table(identifier, "requests")


FIGURES = st.just(0.0) | st.floats(1e-30, 1e30)
"""What a document from outside may have."""
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, object]:
    made = document(name=draw(WORDS), seed=draw(st.integers(0, 2**63 - 1)))
    made["throughput"] = draw(st.dictionaries(WORDS, FIGURES | st.none(), max_size=3))
    made["anything"] = draw(st.recursive(FIGURES | WORDS, st.lists, max_leaves=5))
    return made


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.lists(st.tuples(NUMBERS, WORDS | st.none()), max_size=5))
    return pl.DataFrame(rows, schema={"x_s": pl.Float64, "group": pl.String}, orient="row")


@given(
    kept=st.lists(
        st.tuples(
            documents(),
            st.dictionaries(st.sampled_from(["series", "a", "b2"]), frames(), max_size=2),
            st.dictionaries(WORDS.filter(bool), WORDS, max_size=2),
            st.sampled_from(["simulated", "measured"]),
            st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
        ),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_export_and_import_give_the_same_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, kept: list[tuple[dict[str, object], ...]]
) -> None:
    folder = tmp_path_factory.mktemp("stores")
    one, other = hr.store.open(folder / "one"), hr.store.open(folder / "other")
    ids = [
        one.add(made, tables, kind=kind, started=started, labels=labels)  # type: ignore[arg-type]
        for made, tables, labels, kind, started in kept
    ]
    assert one.export(ids, folder / "one.zip") == ids
    assert other.import_archive(folder / "one.zip") == dict.fromkeys(ids, True)
    assert other.import_archive(folder / "one.zip") == dict.fromkeys(ids, False)
    assert other.list().height == len(ids)
    for identifier in ids:
        assert other.record(identifier) == one.record(identifier)
        assert other.contents(identifier) == one.contents(identifier)
        for content in one.contents(identifier):
            name = content.name
            assert other.parquet(identifier, name) == one.parquet(identifier, name)
    other.export(ids, folder / "other.zip")
    assert (folder / "other.zip").read_bytes() == (folder / "one.zip").read_bytes()


def test_an_archive_goes_from_one_database_to_the_other(
    postgresql: str, result: hr.Result, tmp_path: Path
) -> None:
    here, there = hr.store.open(tmp_path / "store"), hr.store.open(postgresql)
    identifier = hr.simulate.keep(result, here, labels={"a": "b"})
    here.export(["last"], tmp_path / "results.zip")
    assert there.import_archive(tmp_path / "results.zip") == {identifier: True}
    assert there.record(identifier) == here.record(identifier)
    assert there.table(identifier, "series").equals(result.series)
    assert there.figures([identifier]).equals(here.figures([identifier]))


def test_both_ways_into_sqlite_give_the_same(
    result: hr.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headrace.store import insertion

    store = hr.store.open(tmp_path)
    store.add(document())
    ways = []
    for inserted in (insertion._inserted, lambda *_: None):
        monkeypatch.setattr(insertion, "_inserted", inserted)
        started = datetime(2026, 1, 1, tzinfo=UTC)
        identifier = hr.simulate.keep(result, store, started=started, labels={"a": "b"})
        shown = store.shown(identifier)
        # The second one is compared with the first.
        ways.append(msgspec.structs.replace(shown, id="", change=None))
    assert ways[0] == ways[1]


def test_a_run_is_of_the_same_scenario_whatever_its_chance(tmp_path: Path) -> None:
    store = hr.store.open(tmp_path)
    for sets in ({}, {"run.seed": 5}, {"run.replications": 2}, {"clients.count": 5}):
        hr.simulate.keep(hr.run(hr.load(SMALL, sets)), store)
    hashes = store.list()["scenario_sha256"].to_list()
    assert len(set(hashes[1:])) == 1
    assert hashes[0] != hashes[1]


@given(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.timezones()))
def test_timestamps_are_exact_and_sorted(made: datetime) -> None:
    exact = made.astimezone(UTC)
    assert moment(timestamp(made)) == exact
    assert timestamp(made) < timestamp(exact + timedelta(microseconds=1))


@pytest.mark.parametrize(
    "where", ["mysql://u:secret@h/db", "http://h", "sqlite:///x.db", "postgresqlx://u@h/db", "://"]
)
def test_a_url_of_something_else(where: str) -> None:
    with pytest.raises(StoreError, match=r"expected a directory, or .*postgresql://user@host/d"):
        hr.store.open(where)
    with pytest.raises(StoreError) as raised:
        hr.store.open(where)
    assert "secret" not in str(raised.value)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    store = hr.store.open(f"postgresql://u:secret@/db?host={tmp_path}&password=secret")
    assert str(store.location) == f"postgresql://u@/db?host={tmp_path}&password=***"
    for asked in (store.list, lambda: store.add(document())):
        with pytest.raises(StoreFailure, match="No such file") as raised:
            asked()
        assert "secret" not in str(raised.value)
        assert "\n" not in str(raised.value)


def document(**more: object) -> dict[str, object]:
    """The least that a result says."""
    name = more.pop("name", "least")
    scenario = {"name": name, "toml": f"name = {json.dumps(name)}"}
    return {"scenario": scenario, "seed": 1, "version": "0.1.0", "wall_seconds": 0.5} | more
