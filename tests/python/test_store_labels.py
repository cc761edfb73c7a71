"""Labels, notes and the history of figures."""

import polars as pl
import pytest

import headrace as hr
from conftest import Command
from headrace.store import Store, StoreError, make_filter
from headrace.store.figures import chosen_pair


def test_labels_are_set_changed_and_removed(store: Store, result: hr.Result) -> None:
    identifier = store.add(result.document, labels={"disks": "old", "rack": "1"})
    store.set_labels(identifier, {"disks": "new", "rack": None, "note": "after the\nmove"})
    assert store.shown(identifier).labels == {"disks": "new", "note": "after the\nmove"}
    assert store.list(search="after the").height == 1


def test_refused_labels(store: Store, result: hr.Result) -> None:
    identifier = store.add(result.document)
    for labels in ({"": "x"}, {"a": "b\0"}, {"a\0": "b"}):
        with pytest.raises(StoreError):
            store.set_labels(identifier, labels)
    with pytest.raises(StoreError):
        store.set_labels("none", {"a": "b"})


def test_the_history_of_a_figure(store: Store, result: hr.Result) -> None:
    ids = [
        store.add({**result.document, "version": version}, labels={"n": version})
        for version in ("0.1.0", "0.2.0")
    ]
    history = store.history(make_filter(name=result.name), "write", "throughput_bytes_per_s")
    assert history["id"].to_list() == ids
    assert history["version"].to_list() == ["0.1.0", "0.2.0"]
    assert history["value"].to_list() == [result.document["throughput"]["write"]] * 2
    assert history.schema["started"] == pl.Datetime("us", "UTC")
    assert store.history(make_filter(name="another")).is_empty()
    assert ("write", "latency_mean_s") in store.operations(make_filter())
    assert store.names() == [result.name]


def test_a_history_without_a_figure_has_the_first_of_the_results(
    store: Store, result: hr.Result
) -> None:
    store.add(result.document)
    history = store.history(make_filter())
    assert history.select("operation", "figure").row(0) == ("all", "latency_mean_s")
    assert history["value"].to_list() == [result.document["latency"]["all"]["mean"]]
    history = store.history(make_filter(), "write")
    assert history["figure"].to_list() == ["throughput_bytes_per_s"]
    assert store.history(make_filter(), "none").is_empty()
    pairs = [("all", "latency_mean_s"), ("write", "latency_p99_s"), ("write", "latency_mean_s")]
    for asked, expected in (
        ((None, None), pairs[0]),
        (("write", None), pairs[2]),
        (("write", "latency_p99_s"), pairs[1]),
        (("read", "latency_p99_s"), pairs[0]),
    ):
        assert chosen_pair(pairs, *asked) == expected
    assert chosen_pair([]) is None


def test_the_command(headrace: Command, place: object, result: hr.Result) -> None:
    identifier = hr.store.open().add(result.document, labels={"a": "1"})
    done = headrace("results", "label", "last", "b=2", "--remove", "a", "--note", "a note")
    assert done.stdout == f"{identifier}: b=2, note=a note\n"
    refused = headrace("results", "label", "last")
    assert refused.returncode == 2 and "nothing to change" in refused.stderr


def test_results_are_sorted_by_values_of_each(store: Store) -> None:
    ids = []
    for number, figures in enumerate(
        (
            {"throughput": {"read": 1e6, "write": 8e6}, "latency": {"read": {"p99": 0.2}}},
            {"throughput": {"all": 5e6, "read": 5e6}, "latency": {"all": {"p99": 0.3}}},
            {},
        )
    ):
        scenario = {"name": "bca"[number], "toml": f"count = {number}"}
        ids.append(store.add({"scenario": scenario, "version": "1", **figures}))

    def order(sort: str) -> list[int]:
        return [ids.index(entry.id) for entry in store.listed(make_filter(sort=sort)).entries]

    assert order("") == [2, 1, 0] and order("started") == [0, 1, 2]
    assert order("name") == [2, 0, 1] and order("-name") == [1, 0, 2]
    assert order("throughput") == [1, 0, 2] and order("-throughput") == [0, 1, 2]
    assert order("p99") == [0, 1, 2] and order("-p99") == [1, 0, 2]
    assert order("host") == [2, 1, 0]
    with pytest.raises(StoreError, match="expected one of name, started"):
        make_filter(sort="size")
