"""Results side by side: ratios and significance."""

import json
import math
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

import headrace as hr
from conftest import SMALL, Command
from headrace.cli.app import run
from headrace.kinds import STORED
from headrace.quantities import NOT_KNOWN
from headrace.store import Store, StoreError
from headrace.store.figures import FIGURES, most_changed
from headrace.store.samples import mean
from headrace.store.significance import difference
from headrace.views.comparison import SHOWN, change_text
from headrace.views.comparison import view as comparison
from test_cli_errors import refused
from test_cli_run import strict

SAMPLES = st.lists(st.floats(0.1, 1000), min_size=2, max_size=12)


@pytest.mark.filterwarnings("error")
@given(SAMPLES, SAMPLES)
@example([140.0, 113.0, 62.0], [260.0, 328.0])
@example([1.0, 2.0], [20.0, 24.0])
@example([0.1, 0.1], [0.1, 500.0, 1.0])
@settings(deadline=None)
def test_significance_is_welchs(first: list[float], other: list[float]) -> None:
    # Of values that differ by rounding alone no two ways of computing give the same.
    assume(max(statistics.stdev(it) / statistics.fmean(it) for it in (first, other)) > 1e-9)
    found = difference(first, other)
    assert found is not None
    # Means and deviations are taken exactly: scipy's own lose all digits of values that are
    # equal, or nearly.
    (one, two) = ((statistics.fmean(it), statistics.stdev(it), len(it)) for it in (other, first))
    expected = stats.ttest_ind_from_stats(*one, *two, equal_var=False)
    assert found.p == pytest.approx(float(expected.pvalue), rel=1e-6, abs=1e-12)
    # What the test does not reject is in the interval; what it rejects is not, but where ratios
    # at an end are kept that lie beyond some which are not.
    if abs(found.p - 0.05) > 1e-6:
        inside = found.low <= 1 and (found.high is None or found.high >= 1)
        to_an_end = found.low == 0 or found.high is None
        assert inside if found.p > 0.05 else not inside or to_an_end
    ratio = sum(other) / len(other) / (sum(first) / len(first))
    assert found.low <= ratio * (1 + 1e-9)
    assert found.high is None or found.high >= ratio * (1 - 1e-9)


@given(SAMPLES, SAMPLES, st.floats(0.2, 5))
@settings(deadline=None)
def test_the_interval_goes_with_the_unit(
    first: list[float], other: list[float], factor: float
) -> None:
    assume(len(set(first)) > 1 and len(set(other)) > 1)
    found = difference(first, other)
    scaled = difference(first, [factor * value for value in other])
    assert found is not None and scaled is not None
    assert scaled.low == pytest.approx(factor * found.low, rel=1e-6, abs=1e-9)
    if found.high is not None and scaled.high is not None and found.high < 1e9:
        assert scaled.high == pytest.approx(factor * found.high, rel=1e-6)


def test_an_interval_known_from_fiellers_theorem() -> None:
    """With one mean known exactly, it is Student's interval of the other over it."""
    found = difference([2.0, 2.0, 2.0], [5.0, 6.0, 7.0])
    half = float(stats.t.ppf(0.975, 2)) * 1 / math.sqrt(3)
    assert found is not None and found.high is not None
    assert (found.low, found.high) == pytest.approx(((6 - half) / 2, (6 + half) / 2), rel=1e-9)


def test_what_cannot_be_told() -> None:
    assert difference([1.0], [2.0, 3.0]) is None
    assert difference([1.0, 1.0], [2.0, 2.0]) is None
    found = difference([-0.0, 1e-9, 5.0], [4.0, 5.0])
    assert found is not None
    assert found.high is None


def kept(
    store: Store,
    throughput: Sequence[float] | float,
    *,
    count: int = 1,
    seed: int = 1,
    version: str = "1",
    **more: Any,
) -> str:
    """A result with a throughput of reading, of each replication if there are several."""
    several = [throughput] if isinstance(throughput, float) else throughput
    document: dict[str, Any] = {
        "scenario": {"name": "compared", "toml": f"count = {count}"},
        "seed": seed,
        "version": version,
        "throughput": {"read": sum(several) / len(several)},
    }
    if len(several) > 1:
        key = "repeats" if more.get("kind") == "measured" else "replications"
        document[key] = [
            {"seed": seed + number, "throughput": {"read": value}}
            for number, value in enumerate(several)
        ]
    return store.add(document, **more)


def test_results_with_replications(store: Store) -> None:
    first, other = [10.0, 11.0, 12.0, 11.0], [20.0, 24.0, 22.0]
    ids = [kept(store, first), kept(store, other, count=2)]
    compared = store.compare(ids)
    rows = compared.table.to_dicts()
    assert [row["group"] for row in rows] == ids
    assert [row["samples"] for row in rows] == [4, 3]
    assert rows[0]["ratio"] is None
    assert rows[1]["ratio"] == pytest.approx(2.0)
    expected = stats.ttest_ind(first, other, equal_var=False)
    assert rows[1]["p"] == pytest.approx(float(expected.pvalue))
    assert 1.6 < rows[1]["ratio_low"] < 2.0 < rows[1]["ratio_high"] < 2.4
    assert compared.notes == []


def test_a_single_run_tells_nothing_of_chance(store: Store) -> None:
    ids = [kept(store, [10.0, 11.0]), kept(store, 5.0, count=2)]
    compared = store.compare(ids)
    row = compared.table.to_dicts()[1]
    assert (row["ratio"], row["p"], row["samples"]) == (pytest.approx(5 / 10.5), None, 1)
    (note,) = compared.notes
    assert ids[1] in note and "cannot be told" in note


def test_what_does_not_vary_is_said(store: Store) -> None:
    compared = store.compare([kept(store, [5.0, 5.0]), kept(store, [6.0, 6.0])])
    assert compared.table.to_dicts()[1]["p"] is None
    assert "any difference is significant" in compared.notes[0]


def test_the_same_seed_is_no_second_sample(store: Store) -> None:
    for version, throughput in (("1", 10.0), ("2", 20.0)):
        for seed in (1, 2, 2, 2):
            kept(store, throughput + seed, seed=seed, version=version)
    rows = store.compare(name="compared", by="version").table.to_dicts()
    assert [(row["group"], row["samples"], row["value"]) for row in rows] == [
        ("1", 2, 11.5),
        ("2", 2, 21.5),
    ]
    found = difference([11.0, 12.0], [21.0, 22.0])
    assert found is not None
    assert rows[1]["p"] == pytest.approx(found.p)


def test_measurements_are_samples_of_their_own(store: Store) -> None:
    kept(store, [10.0, 12.0], kind="measured", version="1")
    for _ in range(3):
        kept(store, [20.0, 22.0], kind="measured", version="2")
    rows = store.compare(name="compared", by="version").table.to_dicts()
    assert [row["samples"] for row in rows] == [2, 3]


def measured_by(store: Store, calls: str | None, throughput: float, version: str = "1") -> str:
    document = {
        "scenario": {"name": "compared", "toml": "count = 1"},
        "seed": 1,
        "version": version,
        "throughput": {"read": throughput},
    }
    return store.add(document | ({"calls": calls} if calls else {}), kind="measured")


def test_what_was_measured_by_other_calls_is_not_taken_together(store: Store) -> None:
    measured_by(store, None, 10.0, "0")
    for calls, throughput in (("posix", 20.0), ("null", 900.0), ("posix", 22.0), (None, 11.0)):
        measured_by(store, calls, throughput)
    compared = store.compare(name="compared", by="version")
    rows = {row["group"]: row["value"] for row in compared.table.to_dicts()}
    assert rows == {
        "0": 10.0,
        "1, posix calls": 21.0,
        "1, null calls": 900.0,
        "1, calls not said": 11.0,
    }
    assert any(it.startswith("1, null calls made no calls") for it in compared.notes)
    assert any("The calls of" in it for it in compared.notes)
    measured_by(store, "posix", 40.0, "2")
    chosen = store.compare(name="compared", by="version", calls="posix")
    assert [row["group"] for row in chosen.table.to_dicts()] == ["1", "2"]
    assert [row["value"] for row in chosen.table.to_dicts()] == [21.0, 40.0]
    assert not any("calls" in it for it in chosen.notes)
    assert store.list(calls="null")["calls"].to_list() == ["null"]
    assert store.list(limit=1)["calls"].to_list() == ["posix"]
    with pytest.raises(StoreError, match="expected one of posix, io-uring, null"):
        store.list(calls="uring")


def test_groups_by_calls_need_no_second_version(store: Store) -> None:
    measured_by(store, "posix", 10.0)
    with pytest.raises(StoreError, match="all 1 are of version 1"):
        store.compare(name="compared", by="version")
    measured_by(store, "null", 30.0)
    rows = store.compare(name="compared", by="version").table.to_dicts()
    assert [(row["group"], row["ratio"]) for row in rows] == [
        ("1, posix calls", None),
        ("1, null calls", 3.0),
    ]


def test_a_result_without_calls_beside_a_real_one_is_said(store: Store) -> None:
    ids = [measured_by(store, calls, 10.0) for calls in ("posix", "io-uring", "null")]
    notes = store.compare(ids).notes
    for identifier, told in zip(ids, ("by posix", "by io-uring", "no calls (null)"), strict=True):
        assert sum(identifier in it and told in it for it in notes) == 1
    assert store.compare(ids).json()["groups"][2]["calls"] == ["null"]


def test_by_date_the_oldest_is_first(store: Store) -> None:
    begun = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for day, throughput in ((2, 30.0), (0, 10.0), (1, 20.0), (0, 12.0)):
        kept(store, throughput, seed=int(throughput), started=begun + timedelta(days=day))
    kept(store, 1.0, count=3, started=begun, seed=5)
    compared = store.compare(name="compared", by="date")
    rows = compared.table.to_dicts()
    assert [row["group"] for row in rows] == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert rows[2]["ratio"] == pytest.approx(30 / (23 / 3))
    assert any("2026-03-01 has results of 2 different scenarios" in it for it in compared.notes)


def test_replications_have_every_figure(store: Store) -> None:
    few = hr.load(SMALL, {"run.replications": 4})
    more = few.with_({"clients.count": 16, "run.seed": 10})
    ids = [hr.simulate.keep(hr.run(each), store) for each in (few, more)]
    compared = store.compare(ids).table
    assert compared.height == 2 * (2 * 6 + 4)
    assert compared["samples"].unique().to_list() == [4]
    assert compared.filter(group=ids[1])["p"].null_count() == 0
    # Four times as many clients on the same servers wait longer.
    (mean,) = compared.filter(group=ids[1], operation="all", figure="latency_mean_s").to_dicts()
    assert mean["p"] < 0.001
    assert mean["ratio_low"] > 1.5


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, "expected identifiers"),
        ({"ids": ["last"]}, "two or more"),
        ({"ids": ["last", "last"]}, "two or more"),
        ({"ids": ["last"], "by": "version", "name": "x"}, "by has no effect on identifiers"),
        ({"by": "version"}, "its name or a label"),
        ({"by": "host", "name": "compared"}, "version or date"),
        ({"by": "version", "name": "compared"}, "all 1 are of version 1"),
        ({"by": "version", "name": "none"}, "there is none"),
        ({"name": "compared"}, "a name with by version or date"),
    ],
)
def test_what_cannot_be_compared(asked: dict[str, str], told: str, store: Store) -> None:
    kept(store, 5.0)
    with pytest.raises(StoreError, match=told):
        store.compare(**asked)  # type: ignore[arg-type]


def test_the_command_tells_what_json_tells(
    headrace: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("HEADRACE_STORE", f"{tmp_path}/store")
    there = hr.store.open()
    ids = [kept(there, [1e6, 1.1e6, 1.2e6]), kept(there, [2e6, 2.3e6, 2.4e6]), kept(there, 5e6)]
    document = strict(headrace("results", "compare", *ids, "--json").stdout)
    shown = headrace("results", "compare", *ids).stdout
    assert [it["ids"] for it in document["groups"]] == [[it] for it in ids]
    _, other, last = document["figures"]
    for value in (other["ratio"], other["ratio_low"], other["ratio_high"], last["ratio"]):
        assert f" {value:.2f} " in shown
    assert f" {other['p']:.3f} " in shown
    for part in (*ids, "1.10", "2.23", "5.00", "B/A", "C/A", *document["notes"]):
        assert part in shown
    refused(headrace("results", "compare", "last"), "two or more")
    refused(headrace("results", "compare", "--by", "host", "--name", "x"), "--by")


TIMES = "\N{MULTIPLICATION SIGN}"
EXTREMES = [0.0, 5e-324, 1e-200, 1.9e154, 1e300, 1.7e308, 1.0, 2.5]


@given(st.lists(st.sampled_from(EXTREMES), min_size=1, max_size=4), st.data())
@settings(deadline=None, max_examples=200)
def test_no_figure_of_an_earlier_catalogue_breaks_a_comparison(
    first: list[float], data: st.DataObject
) -> None:
    """Earlier versions took in figures of any size."""
    other = data.draw(st.lists(st.sampled_from(EXTREMES), min_size=1, max_size=4))
    for samples in (first, other):
        assert min(samples) <= mean(samples) * (1 + 1e-12) and mean(samples) <= max(samples)
    found = difference(first, other)
    if found is not None:
        assert 0 <= found.p <= 1 and found.low >= 0
        assert found.high is None or math.isfinite(found.high)


def test_a_figure_whose_square_is_no_number(headrace: Command, tmp_path: Path, place: Path) -> None:
    store = hr.store.open()
    ids = [
        store.add(
            {
                "scenario": {"name": "x"},
                "version": "0.1.0",
                "throughput": {"read": value},
                "repeats": [{"throughput": {"read": it * value}} for it in (1.0, 1.1, 0.9)],
            },
            kind="study",
        )
        for value in (1.9e154, 5e-310, 1e308)
    ]
    for pair in (ids, ids[::-1], [ids[1], ids[0]]):
        ended = headrace("results", "compare", *pair)
        assert (ended.returncode, ended.stderr) == (0, "")
        strict(headrace("results", "compare", *pair, "--json").stdout)
    assert headrace("results", "list").returncode == 0


@pytest.mark.parametrize("value", [1.9e154, -1e31, 1e-200, -5.0])
@pytest.mark.parametrize("key", ["throughput", "measured_seconds"])
def test_a_figure_out_of_bounds_is_refused_where_it_is_taken_in(
    key: str, value: float, headrace: Command, tmp_path: Path, place: Path
) -> None:
    saved = tmp_path / "study.json"
    figures: dict[str, Any] = {"throughput": {"read": 1e6}, "measured_seconds": 1.0}
    figures[key] = {"read": value} if key == "throughput" else value
    named = "throughput.read" if key == "throughput" else key
    document = {"kind": "study", "scenario": {"name": "x"}, "version": "0.1.0", **figures}
    saved.write_text(json.dumps(document))
    refused(headrace("results", "import", saved), "study.json", f"{named} = {value!r}", "number")


def everything(name: str) -> dict[str, Any]:
    """A document with every figure that is catalogued."""
    times = dict.fromkeys(("mean", "p50", "p95", "p99", "p999"), 0.25)
    return {
        "scenario": {"name": name},
        "version": "1",
        "throughput": {"read": 1e6},
        "operations": {"read": {"per_second": 5.0}},
        "latency": {"read": times},
        "steps": [{"name": "400/s", "latency_from_intended": {"read": times}}],
    }


def test_every_catalogued_figure_has_a_title() -> None:
    assert list(SHOWN) == list(FIGURES)


def test_results_of_any_two_kinds(place: Path) -> None:
    store = hr.store.open()
    ids = [store.add(everything(kind), kind=kind) for kind in STORED]
    for first in ids:
        for other in set(ids) - {first}:
            compared = store.compare([first, other]).json()
            assert compared["figures"] and comparison(compared)


@pytest.mark.parametrize("kind", STORED)
def test_commands_for_each_kind(kind: str, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A result with figures is compared; one without them is refused in one line."""
    store = hr.store.open()
    one = store.add(everything("one"), kind=kind)
    other = store.add(everything("other"), kind=kind)
    bare = store.add({"scenario": {"name": "none"}, "version": "1"}, kind=kind)
    assert run(["results", "compare", one, other]) == 0
    assert "p99.9 ms" in capfd.readouterr().out
    assert run(["results", "compare", one, bare]) == 2
    errors = capfd.readouterr().err
    assert errors.startswith(f"{bare} has no figure that can be compared ({bare}: {kind} of none)")
    assert errors.count("\n") == 1
    assert run(["results", "show", one]) == 0
    assert run(["results", "export", one, "-o", str(place / "x.csv")]) == 0
    capfd.readouterr()
    assert run(["results", "plot", one, "-o", str(place / "plots")]) == 2
    errors = capfd.readouterr().err
    assert errors.count("\n") == 1 and "internal error" not in errors


def test_a_comparison_says_which_fields_differ(headrace: Command, place: Path) -> None:
    """Each with both values, from the saved scenarios, with the ratio of the main figure."""
    there = hr.store.open()
    ids = [kept(there, 1e6, labels={"job": "j1", "owner": "me"})]
    other = {
        "scenario": {"name": "compared", "toml": 'count = 4\n[[group]]\nsize = "1 MiB"'},
        "seed": 1,
        "version": "1",
        "throughput": {"read": 1.96e6},
    }
    ids.append(there.add(other))
    assert there.compare(ids).json()["changes"] == [
        {"path": "count", "values": [1, 4]},
        {"path": "group.0.size", "values": [None, "1 MiB"]},
    ]
    shown = headrace("results", "compare", *ids).stdout
    change = f"count 1 → 4, group.0.size {NOT_KNOWN} → 1 MiB; read MB/s"
    assert f"B instead of A: {change} 1.00 → 1.96 ({TIMES} 1.96)" in shown
    rows = [line for line in shown.splitlines() if line.startswith((" A ", " B "))]
    assert [row.split()[1] for row in rows] == ["compared", "compared"]
    assert "job=" not in shown
    # The list and the result name the result before it.
    (newest, first) = there.listed(hr.store.make_filter()).entries
    assert newest.change is not None and newest.change.previous == first.id
    assert newest.change.ratio == pytest.approx(1.96) and first.change is None
    assert f"since {first.id}: {change} {TIMES} 1.96" in headrace("results", "show", "last").stdout
    digest = there.record(first.id).scenario_sha256
    assert digest is not None
    assert digest[:12] not in headrace("results", "show", first.id).stdout


def test_ten_differing_fields_are_named(place: Path) -> None:
    fields = {f"field{number}": (1, True) for number in range(12)}
    text = change_text(fields, "more")
    assert text.count("→") == 10 and text.endswith("field9 1 → true and 2 more; more")


def test_seeds_of_groups_are_no_difference(store: Store) -> None:
    for version, seed in (("1", 1), ("1", 2), ("2", 3)):
        store.add(
            {
                "scenario": {"name": "compared", "toml": f"count = 1\n[run]\nseed = {seed}"},
                "seed": seed,
                "version": version,
                "throughput": {"read": 1e6 + seed},
            }
        )
    assert store.compare(name="compared", by="version").changes == []
    ids = store.list()["id"].to_list()[:2]
    (change,) = store.compare(ids).changes
    assert (change.path, change.values) == ("run.seed", [3, 2])


def test_the_ratio_is_of_the_operation_that_changed_most() -> None:
    figure = "throughput_bytes_per_s"
    ratios = {("read", figure): 1.0, ("write", figure): 0.5, ("all", "latency_mean_s"): 9.0}
    assert most_changed(ratios) == ("write", figure)
    assert most_changed({("read", figure): math.inf}) is None
