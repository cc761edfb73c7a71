"""Searches: known optima, constraints, prices, comparison of leaders, and resumption."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from conftest import ROOT, SMALL
from headrace.optimisation import Candidate, Infeasible, Optimum, WrongGoal, WrongPrice
from headrace.optimisation import prices as pricing
from headrace.optimisation.candidate import dominates, rank
from headrace.optimisation.goals import Goals, goals, text
from headrace.optimisation.selection import Selected, schedule, select
from headrace.optimisation.space import space
from headrace.simulate import Scenario
from headrace.sweeps import WrongAxis, of_mapping
from headrace.sweeps.finished_runs import FILE

STRIPED_READ = ROOT / "scenarios" / "striped-read.toml"
STRIPES = 16
"""Stripes of each file below."""
EVEN = {
    "clients.count": 1,
    "servers.device.read_rate": "60 MB/s",
    "network.bandwidth": "100 Gbit/s",
    "network.latency": "1 us",
    "layout.first": "round-robin",
    "workload.0.files": 4,
    "workload.0.block": f"{STRIPES} MiB",
    "layout.unit": "1 MiB",
}
"""One client reads files of 16 stripes. The disks are the limit: a file takes as long as the
server with most of its stripes, so its time is ceil(16 / servers) stripes."""


def even() -> Scenario:
    return hr.load(STRIPED_READ, EVEN)


def fastest(servers: int) -> float:
    """Throughput of n servers in closed form, as a multiple of one disk's."""
    return STRIPES / -(-STRIPES // servers)


def test_the_fewest_servers_of_a_known_throughput_are_found() -> None:
    # 6 and 7 servers are no faster than ceil(16 / 6) = 3 stripes a file allow: 5.33 disks. From 8
    # on it is 8 disks, until 16 servers.
    limit = 0.95 * fastest(8) * 60
    found = hr.optimise(
        even(),
        {"servers.count": "1..15"},
        minimise="cost",
        subject_to=f"throughput >= {limit} MB/s",
        prices={"servers.count": 5000},
    )
    assert found.best is not None and found.best.point == {"servers.count": 8}
    assert found.best.mean("cost") == 40_000 and found.sampler == "full"
    assert found.best.mean("throughput") == pytest.approx(fastest(8) * 60e6, rel=0.05)
    assert (
        found.trials.filter(pl.col("servers.count") < 8)["verdict"].to_list() == ["infeasible"] * 7
    )


def test_a_sampler_finds_the_optimum_without_trying_all_points() -> None:
    scenario = hr.load(STRIPED_READ, EVEN | {"workload.0.files": 1})
    vary = {"servers.count": "1..64", "layout.unit": ["1 MiB", "2 MiB", "4 MiB", "8 MiB"]}
    found = hr.optimise(scenario, vary, maximise="throughput", trials=60)
    assert found.sampler == "tpe" and len(found.candidates) == 60
    best = found.best
    # A stripe on each of 16 servers or more: nothing is faster.
    assert best is not None and best.point["layout.unit"] == "1 MiB"
    assert best.point["servers.count"] >= STRIPES
    every = [it.mean("throughput") or 0.0 for it in found.candidates]
    assert best.mean("throughput") == max(every)
    # Further servers make no difference, to the bit: no chance is in it.
    assert all(it.mean("throughput") == best.mean("throughput") for it in found.equals)


def test_the_front_has_the_fewest_servers_of_each_throughput() -> None:
    found = hr.optimise(
        even(),
        {"servers.count": "1..10"},
        maximise="throughput",
        minimise="cost",
        prices={"servers.count": 5000},
    )
    # 16 stripes: 1, 2, 3, 4, 6 and 8 servers have fewer in the longest row than one server less.
    servers = sorted(it.point["servers.count"] for it in found.front)
    assert set(servers) >= {1, 2, 3, 4, 6, 8}
    assert found.best in found.front
    assert found.json()["front"][0]["verdict"] == "front"


def test_constraints_hold_and_the_nearest_miss_is_named() -> None:
    scenario = hr.load(SMALL)
    vary = {"servers.count": "1..4", "layout.unit": "64 KiB..512 KiB:log4"}
    found = hr.optimise(
        scenario,
        vary,
        maximise="throughput",
        subject_to="cost <= 15000",
        prices={"servers.count": 5000},
    )
    assert found.best is not None and found.best.point["servers.count"] == 3
    with pytest.raises(Infeasible, match=r"none of 16 points meets latency_p99 <= 1 ms") as caught:
        hr.optimise(scenario, vary, maximise="throughput", subject_to=["latency_p99 <= 1 ms"])
    message = str(caught.value)
    known = caught.value.optimum.candidates
    nearest = min(known, key=lambda it: it.mean("latency_p99") or 0.0)
    assert text("latency_p99", nearest.mean("latency_p99")) in message
    assert f"servers.count={nearest.point['servers.count']}" in message


def without_costs(found: Optimum) -> dict[str, object]:
    return found.json() | {"runs": 0, "reused": 0, "wall_seconds": 0}


def test_a_search_that_was_interrupted_goes_on_to_the_same_answer(tmp_path: Path) -> None:
    scenario = hr.load(SMALL)
    vary = {"servers.count": "1..8", "layout.unit": "32 KiB..1 MiB:log"}

    def search(directory: Path, progress: Callable[[int, int, str], object]) -> Optimum:
        return hr.optimise(
            scenario,
            vary,
            maximise="throughput",
            minimise="latency_p95",
            trials=24,
            leaders=4,
            most_replications=4,
            directory=directory,
            progress=progress,
            on_stop=partial.append,
        )

    partial: list[Optimum] = []

    def interrupt(done: int, _known: int, _best: str) -> None:
        if done == 13:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(tmp_path / "one", interrupt)
    assert partial[0].is_stopped and partial[0].best is not None
    whole = search(tmp_path / "two", lambda *_: None)
    resumed = search(tmp_path / "one", lambda *_: None)
    assert without_costs(resumed) == without_costs(whole)
    assert resumed.reused == 13 and resumed.runs == whole.runs - 13
    keys = [line[:45] for line in (tmp_path / "one" / FILE).read_text().splitlines()]
    assert len(keys) == len(set(keys)) == whole.runs
    again = search(tmp_path / "one", lambda *_: None)
    assert again.runs == 0 and without_costs(again) == without_costs(whole)


def test_the_number_of_threads_changes_nothing() -> None:
    scenario = hr.load(SMALL)
    one, many = (
        hr.optimise(
            scenario,
            {"layout.unit": "32 KiB..1 MiB:log"},
            maximise="throughput",
            trials=16,
            leaders=3,
            most_replications=4,
            on=engine,
        )
        for engine in ("threads:1", "threads:5")
    )
    assert without_costs(one) == without_costs(many)


def noisy(
    means: Sequence[float], deviation: float, seed: int, shared: float = 0.0
) -> tuple[list[Candidate], Callable[[Sequence[tuple[Candidate, int]]], None]]:
    """Candidates of known means, and the function that runs them.

    Args:
        means: True throughput of each.
        deviation: Standard deviation of a run.
        seed: Seed of the noise.
        shared: Part of the variance that equal replications have in common.
    """
    common = random.Random(f"{seed} common")
    by_replication = [common.gauss(0, deviation * shared**0.5) for _ in range(10_000)]
    own = random.Random(f"{seed} own")
    candidates = [Candidate(number, {"number": number}, 1) for number in range(len(means))]

    def replicate(requests: Sequence[tuple[Candidate, int]]) -> None:
        for candidate, replication in requests:
            if replication in candidate.by_replication:
                continue
            noise = by_replication[replication] + own.gauss(0, deviation * (1 - shared) ** 0.5)
            value = means[candidate.number] + noise
            candidate.by_replication[replication] = {"throughput": value}

    return candidates, replicate


def selected(means: Sequence[float], seed: int, shared: float, most: int = 32) -> Selected:
    candidates, replicate = noisy(means, 5.0, seed, shared)
    replicate([(it, 0) for it in candidates])
    aims = Goals(goals(["throughput"], [], [], False).objectives)
    return select(aims, candidates, replicate, most=most, indifference=0.001)


def test_a_percent_in_noise_of_five_is_called_equal_or_distinguished() -> None:
    wrong = equal = 0
    for seed in range(100):
        found = selected([100.0, 101.0], seed, shared=0.0)
        assert len(found.best) == 1
        equal += bool(found.equals)
        wrong += not found.equals and found.best[0].number == 0
    # 32 runs of each leave an error of 1.25: hardly any pair is distinguished, and of 100 searches
    # at most 5 % may name the wrong one without the other (three standard deviations above).
    assert wrong <= 11 and equal >= 75


def test_seeds_in_common_distinguish_a_percent() -> None:
    # 99 % of the variance is the seed's: the differences have a deviation of 0.7.
    right = sum(
        not (found := selected([100.0, 101.0], seed, shared=0.99)).equals
        and found.best[0].number == 1
        for seed in range(40)
    )
    assert right >= 38


def test_the_best_of_many_is_hardly_ever_beaten() -> None:
    means = [100.0 - 0.5 * number for number in range(12)]
    lost = 0
    for seed in range(50):
        found = selected(means, seed, shared=0.5)
        lost += 0 not in [it.number for it in (*found.best, *found.equals)]
    assert lost <= 7  # 5 %, and three standard deviations


def test_leaders_that_do_not_depend_on_the_seed_run_twice() -> None:
    candidates = [Candidate(number, {"number": number}, 1) for number in range(3)]

    def replicate(requests: Sequence[tuple[Candidate, int]]) -> None:
        for it, replication in requests:
            it.by_replication[replication] = {"throughput": float(it.number // 2)}

    replicate([(it, 0) for it in candidates])
    aims = goals(["throughput"], [], [], False)
    found = select(aims, candidates, replicate, most=32, indifference=0.01)
    assert [it.number for it in found.best] == [2]
    assert sorted(it.number for it in found.beaten) == [0, 1]
    assert all(len(it.by_replication) == 3 for it in candidates)


def test_an_uncertain_leader_beats_no_other() -> None:
    """A leader that may miss a constraint is no reason to drop one that meets it."""
    own = random.Random(1)
    safe, risky = (Candidate(number, {"number": number}, 1) for number in range(2))

    def replicate(requests: Sequence[tuple[Candidate, int]]) -> None:
        for it, replication in requests:
            latency = 0.010 if it is safe else 0.0199 + own.gauss(0, 0.002)
            it.by_replication[replication] = {
                "throughput": 100.0 if it is safe else 200.0,
                "latency_p99": latency,
            }

    replicate([(safe, 0), (risky, 0)])
    aims = goals(["throughput"], [], ["latency_p99 <= 20 ms"], False)
    found = select(aims, [safe, risky], replicate, most=16, indifference=0.01)
    assert safe not in found.beaten


def test_rounds_double() -> None:
    assert schedule(32) == [2, 4, 8, 16, 32] and schedule(20) == [2, 4, 8, 16, 20]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_a_rank_holds_no_point_that_dominates_another(pairs: list[tuple[int, int]]) -> None:
    candidates = []
    for number, (throughput, latency) in enumerate(pairs):
        it = Candidate(number, {"number": number}, 1)
        it.by_replication[0] = {"throughput": throughput, "latency": latency}
        candidates.append(it)
    aims = goals(["throughput"], ["latency"], ["throughput >= 1 B/s"], False)
    ranks = rank(candidates, aims)
    assert sorted(it.number for each in ranks for it in each) == list(range(len(pairs)))
    scores = [[aims.score(it.means(aims.figures)) for it in each] for each in ranks]
    feasible = [each for each in ranks if pairs[each[0].number][0] >= 1]
    assert ranks[: len(feasible)] == feasible
    for number in range(len(feasible)):
        assert not any(dominates(one, other) for one in scores[number] for other in scores[number])
        if number:
            assert all(any(dominates(a, b) for a in scores[number - 1]) for b in scores[number])


def test_a_small_space_is_tried_to_its_end_by_any_sampler() -> None:
    scenario = hr.load(SMALL)
    vary = {"servers.count": "1..3", "layout.first": ["random", "round-robin"]}
    for sampler in ("tpe", "nsga2", "sobol"):
        found = hr.optimise(
            scenario, vary, maximise="throughput", sampler=sampler, trials=50, leaders=1
        )
        assert len(found.candidates) == 6 and len(found.candidate_of_trial) == 6


def test_axes_become_dimensions() -> None:
    vary = {
        "servers.count": "1..16",
        "layout.unit": "64 KiB..1 MiB:log5",
        "servers.device.read_rate": "60 MB/s..120 MB/s",
        "layout.first": ["random", "round-robin"],
        ("clients.count", "workload.0.files"): [(4, 8), (8, 4)],
    }
    found = space(of_mapping(vary), hr.load(SMALL))
    assert [it.size for it in found.dimensions] == [16, 5, None, 2, 2] and found.size is None
    kinds = [type(it).__name__.removesuffix("Distribution") for it in found.distributions.values()]
    assert kinds == ["Int", "Int", "Float", "Categorical", "Int"]
    point = found.point(dict(zip(found.distributions, (3, 4, 0.5, 1, 0), strict=True)))
    assert point["servers.count"] == 3 and point["layout.first"] == "round-robin"
    assert hr.load(SMALL).with_(point)


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        ("servers.count=5000", 10_000),
        ("servers.count*servers.targets=300", 600),
        ("layout.unit=4/MiB", 1),
        ("network.bandwidth*clients.count=2/Gbit/s", 8),
        ("layout.first:random=7", 7),
        ("layout.first:round-robin=7", 0),
    ],
)
def test_prices_are_for_amounts_and_choices(price: str, expected: float) -> None:
    assert pricing.parse(price).cost(hr.load(SMALL)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ("servers.count", "expected PATH=PRICE"),
        ("servers.count=dear", "expected PATH=PRICE"),
        ("servers.count=nan", "expected PATH=PRICE"),
        ("servers.colour=3", "expected a field with an amount"),
        ("layout.first=3", "for a choice write layout.first:VALUE"),
        ("layout.fist:random=3", "the scenario has no such field"),
        ("network.bandwidth=3", "expected a price per unit, such as 3/Gbit/s"),
        ("network.bandwidth=3/GiB", "expected a price per unit, such as 3/Gbit/s"),
        ("servers.count=3/GiB", "the fields are counts"),
    ],
)
def test_wrong_prices_are_named(price: str, message: str) -> None:
    with pytest.raises(WrongPrice, match=message):
        pricing.parse(price).cost(hr.load(SMALL))


def test_prices_may_name_entries_of_a_catalogue() -> None:
    entries = {"2U12": 3800.0, "nearline 8 TB": 210.0, "unpriced": None}
    assert pricing.parse("servers.count=2U12 + 12 x nearline 8 TB", entries).price == 6320
    assert pricing.parse("servers.count=5000", entries).price == 5000
    with pytest.raises(WrongPrice, match="no entry of the catalogue: did you mean '2U12'"):
        pricing.parse("servers.count=2U21", entries)
    with pytest.raises(WrongPrice, match="has no price of 'unpriced'"):
        pricing.parse("servers.count=unpriced", entries)


def test_a_file_of_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('[prices]\n"servers.count" = 5000\n"layout.unit" = "4/MiB"\n')
    assert pricing.cost(pricing.read(path), hr.load(SMALL)) == 10_001
    for wrong in ("servers", "[prices]\n", "[prices]\nservers.count = 3\n", "x = 1\n"):
        path.write_text(wrong)
        with pytest.raises(WrongPrice, match=r"prices.toml: "):
            pricing.read(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"maximise": ()}, "nothing is maximised or minimised"),
        ({"maximise": "speed"}, "figure 'speed': expected throughput"),
        ({"minimise": "throughput"}, "throughput is maximised and minimised"),
        ({"minimise": "cost"}, "the cost needs prices"),
        ({"subject_to": "latency_p99 < 20 ms"}, "expected FIGURE <= LIMIT"),
        ({"subject_to": "latency_p99 <= 20 MB/s"}, "expected a limit such as '20 ms'"),
        ({"subject_to": "throughput >= 20"}, "expected a limit such as '200 MB/s'"),
        (
            {"subject_to": ["latency <= 2 ms", "latency >= 3 ms"]},
            "latency >= 3 ms and latency <= 2 ms contradict each other",
        ),
        ({"trials": 0}, "0 trials: expected 1 to"),
        ({"seconds": 0.0}, "a time of 0 s"),
        ({"replications": 0}, "0 replications"),
        ({"leaders": 0}, "0 leaders"),
        ({"sampler": "gp"}, "sampler 'gp': expected tpe"),
        ({"sampler": "full", "trials": 3}, "needs more than 3 trials"),
    ],
)
def test_wrong_searches_are_refused(changes: dict[str, object], message: str) -> None:
    arguments = {"maximise": "throughput"} | changes
    with pytest.raises(WrongGoal, match=message):
        hr.optimise(hr.load(SMALL), {"servers.count": "1..4"}, **arguments)  # type: ignore[arg-type]


def test_points_that_fail_are_passed_over() -> None:
    scenario = hr.load(SMALL)
    found = hr.optimise(scenario, {"servers.count": [0, 1, 2]}, maximise="throughput")
    assert [it.point for it in found.failed] == [{"servers.count": 0}]
    assert found.best is not None and found.best.point == {"servers.count": 2}
    with pytest.raises(hr.ScenarioError, match="expected a whole number of at least 1"):
        hr.optimise(scenario, {"servers.count": [0, -1]}, maximise="throughput")
    with pytest.raises(WrongAxis, match="nothing varies"):
        hr.optimise(scenario, {}, maximise="throughput")


def test_an_optimum_shows_and_saves_itself(tmp_path: Path) -> None:
    found = hr.optimise(
        hr.load(SMALL),
        {"servers.count": "1..6", "layout.unit": "64 KiB..512 KiB:log4"},
        maximise="throughput",
        minimise="cost",
        prices={"servers.count": 5000},
        most_replications=4,
    )
    assert repr(found).startswith("<Optimum of 'small': servers.count=")
    assert "<table" in found._repr_html_()
    assert set(found.importances) == {"throughput", "cost"}
    assert found.plot().axes and found.plot("history").axes and found.plot("importance").axes
    with pytest.raises(ValueError, match="expected history, front, importance"):
        found.plot("pie")
    found.save(tmp_path)
    saved = pl.read_parquet(tmp_path / "trials.parquet")
    assert saved.equals(found.trials) and saved.height == 24
    assert found.best is not None
    best = hr.load(tmp_path / "best.toml")
    assert best.toml == hr.load(SMALL).with_(found.best.point).toml
