"""The search: enumeration, front, requirements that are missed, resuming, and the command."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from design_search_sample import (
    CATALOGUE_TEXT,
    DISK,
    FLASH,
    NODE,
    WORKSHEET_TEXT,
    small_catalogue,
    small_worksheet,
)
from headrace.cli.app import run as headrace
from headrace.design.capacity import capacity
from headrace.design.catalogue import Catalogue, ShelfModel
from headrace.design.catalogue_file import LoadedCatalogue, read_catalogue
from headrace.design.enumeration import (
    Housing,
    complete,
    families,
    fillings,
    horizon_capacity,
)
from headrace.design.evaluate import evaluate
from headrace.design.evaluation import Choice, Evaluation, Reason, Solution
from headrace.design.figure import by_key
from headrace.design.headroom import demands, headroom
from headrace.design.options import Options, options
from headrace.design.pareto import front
from headrace.design.performance import DesignScenario, Simulated, measurement, simulation
from headrace.design.performance.simulation import Effort
from headrace.design.search import solution as solving
from headrace.design.search import solve
from headrace.design.search.candidates import Frontier, cost_of, nearness
from headrace.design.search.saved_runs import FILE
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet
from headrace.design.worksheet_file import LoadedWorksheet, read_worksheet
from headrace.simulate import ParallelRuns

EFFORTS = simulation.EFFORTS


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a fraction of a second."""
    short = Effort(24, 8, 0.2, 0.2, 5_000, 1)
    full = msgspec.structs.replace(short, replications=3)
    monkeypatch.setattr(simulation, "EFFORTS", {"coarse": short, "full": full, "whole": short})


def without_time(found: Solution) -> Solution:
    return msgspec.structs.replace(found, seconds=0.0)


points = st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=30)


@given(points)
def test_the_front_is_what_a_slow_search_finds(given_points: list[tuple[int, ...]]) -> None:
    def surpasses(one: int, other: int) -> bool:
        a, b = given_points[one], given_points[other]
        no_worse = all(x <= y for x, y in zip(a, b, strict=True))
        return no_worse and (a != b or one < other)

    numbers = range(len(given_points))
    slow = [
        it for it in numbers if not any(surpasses(other, it) for other in numbers if other != it)
    ]
    assert front(given_points) == slow


@given(points)
def test_every_point_is_surpassed_by_one_of_the_front(
    given_points: list[tuple[int, ...]],
) -> None:
    kept = [given_points[it] for it in front(given_points)]
    for point in given_points:
        assert any(all(x <= y for x, y in zip(it, point, strict=True)) for it in kept)


def frontier_of(
    worksheet: Worksheet, catalogue: Catalogue, tried: Options | None = None
) -> Frontier:
    """A frontier with every family."""
    opened = Frontier(worksheet, catalogue, tried or Options(), demands(worksheet))
    opened.fill(lambda _count: None, lambda: False)
    assert opened.is_complete
    return opened


def opened_designs(frontier: Frontier) -> list[Design]:
    return [frontier._design(entry) for _, _, entry, _ in frontier._heap]


def test_designs_of_a_small_catalogue_by_hand() -> None:
    # 24 TB with the reserve. RAID 6 of 6 and 10 disks and of all 12, with 8 TB disks:
    worksheet, catalogue = small_worksheet().worksheet, small_catalogue().catalogue
    tried = Options(
        file_systems=("lustre",),
        disk_classes=("nearline",),
        arrays=("raid6",),
        copies=(1,),
        spares=(0,),
    )
    opened = opened_designs(frontier_of(worksheet, catalogue, tried))
    assert {(one.nodes, one.array.disks, one.arrays_per_node) for one in opened} == {
        (1, 6, 1),
        (1, 10, 1),
        (1, 12, 1),
    }


def test_an_evaluation_has_the_capacities_of_its_design() -> None:
    # The metadata servers of Lustre limit the number of files.
    worksheet, catalogue = small_worksheet().worksheet, small_catalogue().catalogue
    tried = Options(metadata_nodes=(1, 2))
    for design in opened_designs(frontier_of(worksheet, catalogue, tried))[::29]:
        evaluation = evaluate(design, worksheet, catalogue, to_the_end=False)
        assert evaluation.capacity == capacity(design)


def test_every_design_holds_the_data_and_fits_its_slots() -> None:
    worksheet = small_worksheet("capacity.usable=200 TB", "capacity.growth=0.3").worksheet
    catalogue = small_catalogue().catalogue
    opened = opened_designs(
        frontier_of(worksheet, catalogue, Options(copies=(1, 2), spares=(0, 1)))
    )
    assert len(opened) == len(set(opened)) > 60
    assert horizon_capacity(worksheet) == pytest.approx(200e12 * 1.3**3)
    for one in opened[::7]:
        assert by_key(capacity(one))["usable-capacity"].value >= 240e12 * (1 - 1e-9)
        assert one.disks_per_node <= one.node.slots
        assert one.nodes >= one.copies
        assert one.copies == 1 or one.file_system in ("glusterfs", "hdfs")


LIMITED = (
    "budget.electricity=0.3",
    "budget.engineer_hour=60",
    "budget.initial=60000",
    "facility.power=3 kW",
    "facility.racks=1",
    "facility.rack_units=12",
    "recovery.loss_probability=0.01",
)


@settings(max_examples=15, deadline=None)
@given(
    usable=st.integers(5, 400),
    throughput=st.integers(50, 5000),
    answers=st.sets(st.sampled_from(LIMITED)),
)
def test_no_figure_is_below_its_bound(usable: int, throughput: int, answers: set[str]) -> None:
    sets = (f"capacity.usable={usable} TB", f"application.0.throughput={throughput} MB/s")
    worksheet = small_worksheet(*sets, *answers).worksheet
    catalogue = small_catalogue().catalogue
    opened = frontier_of(worksheet, catalogue)
    for cost, _, entry, _ in opened._heap[::17]:
        candidate = opened._candidate(entry)
        assert cost <= cost_of(candidate.evaluation) * (1 + 1e-9)
        assert headroom(candidate.design, opened._demand) == pytest.approx(entry.bound)
        assert entry.bound >= 1 - 1e-9
    for _, _, entry in [one for near in opened._near.values() for one in near][::7]:
        # What a bound excludes misses a requirement indeed.
        assert opened._candidate(entry).evaluation.violations


def cheapest_cost(worksheet: LoadedWorksheet, catalogue: LoadedCatalogue) -> float:
    solution = solve(worksheet, catalogue, budget=1e6)
    if solution.chosen is None:
        return math.inf
    cost = cost_of(solution.front[0])
    assert solution.lower_bound == pytest.approx(cost)
    return cost


DISKS = st.builds(
    lambda number, capacity, price, watts, kind: (
        f'[[disk]]\nname = "disk {number}"\nclass = "{kind}"\ncapacity = "{capacity} TB"\n'
        f'price = {price}\nmttf = "1500000 h"\nbit_error_rate = 1e-15\n'
        f'read_rate = "300 MB/s"\naccess_time = "5 ms"\npower = "{watts} W"\n'
    ),
    st.integers(0, 99),
    st.integers(1, 30),
    st.integers(20, 900),
    st.integers(2, 20),
    st.sampled_from(["nearline", "ssd", "nvme", "enterprise", "desktop"]),
)
NODES = st.builds(
    lambda number, slots, price, watts: (
        f'[[node]]\nname = "node {number}"\nslots = {slots}\nrack_units = 2\nprice = {price}\n'
        f'memory = "64 GiB"\ncores = 8\nmax_power = "900 W"\npower = "{watts} W"\n'
        'bus_rate = "8 GB/s"\n'
    ),
    st.integers(0, 99),
    st.integers(1, 60),
    st.integers(500, 9000),
    st.integers(100, 800),
)
NETWORKS = st.builds(
    lambda number, rate, price: (
        f'[[network]]\nname = "net {number}"\nbandwidth = "{rate} Gbit/s"\nlatency = "10 us"\n'
        f'adapter_price = {price}\nport_price = {price}\nport_power = "3 W"\n'
    ),
    st.integers(0, 99),
    st.sampled_from([1, 10, 40, 100]),
    st.integers(1, 900),
)


@settings(max_examples=12, deadline=None)
@given(
    parts=st.lists(
        st.one_of(DISKS, NODES, NETWORKS),
        min_size=1,
        max_size=4,
        unique_by=lambda text: text.splitlines()[1],
    ),
    answers=st.sets(st.sampled_from(LIMITED)),
    usable=st.integers(5, 150),
)
def test_more_parts_never_raise_the_best_cost(
    parts: list[str], answers: set[str], usable: int
) -> None:
    head = WORKSHEET_TEXT.split("[[application]]")[0]
    worksheet = read_worksheet(
        head, "small.toml", [*sorted(answers), f"capacity.usable={usable} TB"]
    )
    before = cheapest_cost(worksheet, small_catalogue())
    more = read_catalogue("\n".join([CATALOGUE_TEXT, *parts]), "catalogue.toml")
    assert cheapest_cost(worksheet, more) <= before * (1 + 1e-9)


@given(slots=st.integers(1, 120), spares=st.integers(0, 3))
def test_arrays_fit_into_the_slots(slots: int, spares: int) -> None:
    for kind in ("single", "raid0", "raid1", "raid5", "raid6", "raid10", "draid"):
        for it in fillings(kind, slots, spares):
            own = it.spares if it.own_spares else 0
            assert it.most >= 1
            assert it.most * it.array.disks + own <= slots


def test_disks_go_into_slots_of_their_form_factor() -> None:
    large = msgspec.structs.replace(DISK, form_factor="3.5-inch")
    small = msgspec.structs.replace(FLASH, form_factor="2.5-inch")
    wide = msgspec.structs.replace(NODE, form_factors=("3.5-inch", "2.5-inch"))
    dense = msgspec.structs.replace(NODE, form_factors=("2.5-inch",))
    shelf = ShelfModel("small", 24, 2.0, 1.0, 1.0, form_factors=("2.5-inch",))
    assert wide.takes(large) and wide.takes(small)
    assert dense.takes(small) and not dense.takes(large)
    # A catalogue that names no form factor leaves it open.
    assert dense.takes(DISK) and NODE.takes(large)
    assert Housing(wide, None, 0).takes(large)
    assert not Housing(wide, shelf, 1).takes(large)


def choice(aspect: str, *values: str, zone: str = "", rejected: tuple[str, ...] = ()) -> Choice:
    reason = Reason("rule", "because", "declared")
    return Choice(zone, aspect, values, (reason,), tuple((it, reason) for it in rejected))


def test_a_shelf_is_bought_when_its_slots_are_needed() -> None:
    """6 disks of 8 TB in RAID-6 fill half of a node of 12; the third array needs a shelf."""
    catalogue = small_catalogue().catalogue
    node = msgspec.structs.replace(catalogue.nodes[0], shelves=2)
    shelf = ShelfModel("shelf 6", 6, 2.0, 900.0, 60.0)
    catalogue = msgspec.structs.replace(catalogue, nodes=(node,), shelves=(shelf,))
    tried = Options(file_systems=("nfs",), disk_classes=("nearline",), arrays=("raid6",))
    tried = msgspec.structs.replace(tried, spares=(0,), copies=(1,))
    (family,) = (
        each
        for each in families(catalogue, tried)
        if each.housing.shelf and each.filling.array.disks == 6
    )
    designs = [family.design(1, arrays) for arrays in (1, 2, 3, 4)]
    assert [one.shelves_per_node for one in designs] == [0, 0, 1, 2]


def test_choices_of_redundancy_and_clients_reach_the_design() -> None:
    worksheet, catalogue = small_worksheet().worksheet, small_catalogue().catalogue
    choices = [Choice("", "node-redundancy", ("fail-over", "redundant-network"), ())]
    tried = options(worksheet, choices)
    assert (tried.fail_over, tried.paths, tried.client_ports) == (True, 2, 4)
    for family in families(catalogue, tried):
        each = complete(family.design(family.least, 1), catalogue.networks[0], (0, None), tried)
        assert each.fail_over_nodes == (each.copies == 1 and each.code is None)
        assert (each.paths, each.client_ports) == (2, 4)
    linked = msgspec.structs.replace(worksheet.clients[0], has_network=True)
    windows = msgspec.structs.replace(worksheet.clients[0], name="desks", system="windows")
    worksheet = msgspec.structs.replace(worksheet, clients=(linked, windows))
    assert options(worksheet, ()).client_ports == 4
    gateway = [Choice("", "gateway", ("gateway",), ())]
    assert options(worksheet, gateway).client_ports == 0


def test_options_exclude_only_what_no_figure_judges() -> None:
    worksheet = small_worksheet().worksheet
    choices = (
        choice("file-system", "glusterfs", "lustre", rejected=("hdfs", "nfs")),
        choice("array", "raid10", zone="data", rejected=("raid5", "raid0", "single")),
        choice("disk-class", "nearline", zone="data", rejected=("desktop", "ssd")),
        choice("network", "fast", rejected=("gigabit",)),
        choice("spares", "1", rejected=("0",)),
        choice("stripe", "4 MiB", zone="data"),
        choice("distribution", "striped", zone="data"),
        choice("gateway", "gateway-pair"),
    )
    tried = options(worksheet, choices)
    assert tried.file_systems == ("lustre", "pvfs2", "glusterfs", "nfs")
    assert tried.arrays == ("raid10", "raid1", "raid6", "draid")
    assert tried.disk_classes == ("nearline", "enterprise", "ssd", "nvme")
    assert tried.spares == (1, 2)
    assert (tried.stripe, tried.striped, tried.gateways) == (4 << 20, True, 2)
    assert [reason.partition(":")[0] for reason in tried.excluded] == [
        "file-system hdfs",
        "disk-class desktop",
        "array raid5",
        "array raid0",
        "array single",
        "spares 0",
    ]
    everything = options(worksheet, choices, everything=True)
    assert len(everything.file_systems) == 5
    assert everything.codes


def test_the_accepted_loss_judges_arrays_in_place_of_rules() -> None:
    worksheet = small_worksheet("recovery.loss_probability=0.01").worksheet
    tried = options(worksheet, (choice("array", "raid10", rejected=("raid5", "raid0")),))
    assert {"raid5", "raid0"} < set(tried.arrays)
    assert not tried.excluded


def test_an_archive_may_have_a_code_over_servers() -> None:
    worksheet = small_worksheet().worksheet
    assert options(worksheet, ()).codes == ()
    low = msgspec.structs.replace(worksheet.zones[0], throughput="low")
    archive = msgspec.structs.replace(worksheet, zones=(low,))
    tried = options(archive, ())
    assert [(code.data, code.parity) for code in tried.codes] == [(4, 2), (8, 3)]


def test_demanded_copies_are_the_least() -> None:
    worksheet = small_worksheet("zone.0.copies=2").worksheet
    tried = options(worksheet, ())
    assert tried.copies == (2, 3)
    none = [f"file-system {name}: zones.copies" for name in ("lustre", "pvfs2", "nfs")]
    assert [one.partition(" needs")[0] for one in tried.excluded] == none


def test_what_the_loss_of_a_server_excludes_is_said() -> None:
    worksheet = small_worksheet("recovery.survives_node=true").worksheet
    *systems, codes = options(worksheet, ()).excluded
    assert len(systems) == 3 and "recovery.survives_node" in systems[0]
    assert codes.startswith("erasure codes over servers")


def test_a_design_with_no_more_than_one_that_failed_is_not_simulated() -> None:
    worksheet, catalogue = small_worksheet().worksheet, small_catalogue().catalogue
    tried = Options(file_systems=("lustre",), disk_classes=("nearline",), arrays=("raid6",))
    opened = frontier_of(worksheet, catalogue, tried)
    (first,) = opened.take(1, math.inf, lambda: False, ())
    opened.fail(first, 0.5)
    (second,) = opened.take(1, math.inf, lambda: False, ())
    more = second.design.disks * second.design.array.efficiency
    assert more > 1.5 * first.design.disks * first.design.array.efficiency
    assert opened.discarded["application.0.throughput"] > 0


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Solution, Path]]:
    # It is made.
    directory = tmp_path_factory.mktemp("solved") / "below" / "directory"
    with pytest.MonkeyPatch.context() as patch:
        short = Effort(24, 8, 0.2, 0.2, 5_000, 1)
        full = msgspec.structs.replace(short, replications=3)
        patch.setattr(simulation, "EFFORTS", {"coarse": short, "full": full, "whole": short})
        found = solve(small_worksheet(), small_catalogue(), directory=directory, budget=1e6)
        yield found, directory


def test_a_small_worksheet_is_solved(solved: tuple[Solution, Path]) -> None:
    found, _ = solved
    assert found.chosen == 0
    chosen = found.front[0]
    assert chosen.is_feasible
    assert chosen.performance[0].throughput >= 100e6
    assert chosen.performance[0].detail == "full"
    costs = [by_key(it.cost)["total-cost"].value for it in found.front]
    assert costs == sorted(costs)
    assert found.lower_bound == pytest.approx(costs[0])
    assert found.seed == 1
    assert found.worksheet_text
    for one in found.front:
        for other in found.front:
            assert one is other or not surpasses(one, other)


def surpasses(one: object, other: object) -> bool:
    mine, its = solving._objectives(one), solving._objectives(other)  # type: ignore[arg-type]
    return mine != its and all(a <= b for a, b in zip(mine, its, strict=True))


def test_nothing_finished_is_run_again(
    solved: tuple[Solution, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, directory = solved

    def refuse(made: list[object], _runs: object) -> list[object]:
        raise AssertionError(f"{len(made)} simulations are run again")

    monkeypatch.setattr(solving, "run_scenarios", refuse)
    again = solve(small_worksheet(), small_catalogue(), directory=directory, budget=1e6)
    assert without_time(again) == without_time(found)


def test_a_search_without_directory_finds_the_same(solved: tuple[Solution, Path]) -> None:
    found, _ = solved
    again = solve(small_worksheet(), small_catalogue(), budget=1e6)
    assert without_time(again) == without_time(found)


def test_an_interrupted_search_goes_on(
    solved: tuple[Solution, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(done: int, _total: int, _what: str) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(small_worksheet(), small_catalogue(), directory=tmp_path, on_progress=interrupt)
    saved = json.loads((tmp_path / FILE).read_text())["runs"]
    assert saved
    ran: list[int] = []
    original = measurement.run_scenarios

    def count(made: Sequence[DesignScenario], runs: ParallelRuns) -> list[Simulated | Exception]:
        ran.append(len(made))
        return original(made, runs)

    monkeypatch.setattr(solving, "run_scenarios", count)
    again = solve(small_worksheet(), small_catalogue(), directory=tmp_path, budget=1e6)
    assert without_time(again) == without_time(solved[0])
    everything = json.loads((tmp_path / FILE).read_text())["runs"]
    assert sum(ran) == len(everything) - len(saved)


def test_a_spent_budget_is_said() -> None:
    solution = solve(small_worksheet(), small_catalogue(), budget=1e-9)
    assert any("budget of" in text for text in solution.unsure)
    assert solution.lower_bound == 0


class Clock:
    """A clock that a simulation moves by a second, and a look at it by a millisecond."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 0.001
        return self.now


def test_a_longer_budget_never_gives_a_worse_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    worksheet = small_worksheet("application.0.throughput=1.4 GB/s")
    answers = []
    for budget in (1, 2, 3, 4, 6, 8, 12, 1000):
        clock = Clock()

        def run(
            cases: Sequence[DesignScenario], runs: ParallelRuns, clock: Clock = clock
        ) -> object:
            clock.now += len(cases)
            return measurement.run_scenarios(cases, runs)

        monkeypatch.setattr(solving, "time", clock)
        monkeypatch.setattr(solving, "run_scenarios", run)
        # A deadline of this clock has passed on the real one.
        monkeypatch.setattr(
            solving, "ParallelRuns", lambda title, **_: ParallelRuns(title, progress=False)
        )
        solution = solve(worksheet, small_catalogue(), budget=budget)
        best = solution.front[0] if solution.chosen is not None else None
        confirmed = best is not None and best.performance[0].detail == "full"
        cost = math.inf if best is None else cost_of(best)
        # One that is confirmed is better than one that is not, and that than none.
        answers.append((best is None, not confirmed, cost))
    assert answers == sorted(answers, reverse=True)
    assert not answers[-1][0]
    assert answers[0] > answers[-1]


def test_a_failed_confirmation_leads_to_the_next_design(monkeypatch: pytest.MonkeyPatch) -> None:
    cheapest = solve(small_worksheet(), small_catalogue(), budget=1e6).front[0]
    original = solving.Search._simulate_designs

    def spoil(
        self: solving.Search, chosen: Sequence[Design], detail: Any, store: Any
    ) -> list[Evaluation]:
        evaluations = original(self, chosen, detail, store)
        return [
            spoiled(self, one) if detail == "full" and one.design == cheapest.design else one
            for one in evaluations
        ]

    def spoiled(search: solving.Search, one: Evaluation) -> Evaluation:
        slow = tuple(msgspec.structs.replace(part, throughput=1e6) for part in one.performance)
        return evaluate(one.design, search._worksheet, search._catalogue, slow)

    monkeypatch.setattr(solving.Search, "_simulate_designs", spoil)
    other = solve(small_worksheet(), small_catalogue(), budget=1e6)
    assert other.chosen == 0
    assert other.front[0].design != cheapest.design
    assert other.front[0].performance[0].detail == "full"
    assert cost_of(other.front[0]) >= cost_of(cheapest)


@pytest.mark.parametrize(
    ("limit", "key"),
    [
        ("budget.initial=4000", "purchase"),
        ("recovery.loss_probability=1e-300", "loss-probability"),
    ],
)
def test_the_nearest_miss_is_no_farther_than_the_design_without_the_limit(
    limit: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The design that is chosen without the limit misses the limit only."""
    monkeypatch.setattr(simulation, "EFFORTS", EFFORTS)
    fast = "application.0.throughput=2.5 GB/s"
    networks = [
        f'[[network]]\nname = "net {rate}"\nbandwidth = "{rate} Gbit/s"\nlatency = "20 us"\n'
        f'adapter_price = {price}\nport_price = {price}\nport_power = "3 W"\n'
        for rate, price in ((40, 300), (1, 6))
    ]
    catalogue = read_catalogue("\n".join([CATALOGUE_TEXT, *networks]))
    free = solve(small_worksheet(fast), catalogue, budget=1e6).front[0]
    solution = solve(small_worksheet(fast, limit), catalogue, budget=1e6)
    near = solution.nearest
    assert [each.field for each in near[0].violations] == [limit.partition("=")[0]]
    figures = [
        by_key([*one.cost, *one.facility, *one.reliability])[key].value for one in (*near, free)
    ]
    assert figures[0] <= figures[-1]
    ranks = [nearness(one, small_worksheet(fast, limit).worksheet) for one in near]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ("budget.initial=5000", "budget.initial"),
        ("facility.power=100 W", "facility.power"),
        ("recovery.loss_probability=1e-300", "recovery.loss_probability"),
    ],
)
def test_the_missed_requirement_is_named(answer: str, field: str) -> None:
    found = solve(small_worksheet(answer), small_catalogue())
    assert found.chosen is None
    assert found.front == ()
    assert field in found.discarded
    assert 1 <= len(found.nearest) <= 4
    assert field in {it.field for it in found.nearest[0].violations}
    assert found.nearest[0].performance


def test_a_missing_price_is_a_miss_of_the_budget() -> None:
    text = CATALOGUE_TEXT.replace("price = 3500\n", "")
    found = solve(small_worksheet("budget.initial=50000"), read_catalogue(text))
    assert found.chosen is None
    messages = [it.message for it in found.nearest[0].violations]
    assert any("no price" in it for it in messages)


def test_a_worksheet_without_applications_is_solved_without_simulation() -> None:
    head = WORKSHEET_TEXT.split("[[application]]")[0]
    found = solve(read_worksheet(head), small_catalogue())
    assert found.chosen == 0
    assert found.front[0].performance == ()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    worksheet, catalogue = tmp_path / "lab.toml", tmp_path / "catalogue.toml"
    worksheet.write_text(WORKSHEET_TEXT)
    catalogue.write_text(CATALOGUE_TEXT)
    return worksheet, catalogue


def test_the_command_writes_solution_scenario_and_table(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worksheet, catalogue = files
    target = tmp_path / "out"
    arguments = ["design", "solve", str(worksheet), "--catalogue", str(catalogue)]
    assert headrace([*arguments, "-o", str(target), "--no-report", "--time-limit", "1 h"]) == 0
    shown = capsys.readouterr().out
    assert "Chosen: A " in shown
    assert "Discarded designs" in shown
    saved = msgspec.json.decode((target / "solution.json").read_bytes(), type=Solution)
    assert saved.chosen == 0
    assert hr.load(target / "chosen.toml").name == "small lab"
    # The second time nothing is simulated, and --json prints one document alone.
    assert headrace([*arguments, "-o", str(target), "--no-report", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (
        document["front"][0]["design"]
        == json.loads((target / "solution.json").read_text())["front"][0]["design"]
    )


def test_the_command_exits_with_1_if_nothing_meets_all(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    worksheet, catalogue = files
    status = headrace(
        [
            "design",
            "solve",
            str(worksheet),
            "--catalogue",
            str(catalogue),
            "--set",
            "budget.initial=5000",
        ]
    )
    captured = capsys.readouterr()
    assert status == 1
    assert "No design meets all requirements" in captured.out
    assert "the budget has 5,000" in captured.out


def test_a_search_without_design_names_what_clashes(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["design", "solve", str(files[0]), "--catalogue", str(files[1]), "--no-progress"]
    status = headrace([*words, "--set", "budget.initial=10"])
    captured = capsys.readouterr()
    assert status == 1
    assert "contradiction: budget.initial: the cheapest disks for capacity.usable" in captured.out
    assert headrace([*words, "--set", "budget.initial=10", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["chosen"] is None
    assert "contradiction: budget.initial" in captured.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--time-limit", "soon"], "--time-limit"),
        (["--time-limit", "-1 s"], "--time-limit"),
        (["--seed", "-1"], "--seed -1"),
        (["--seed", "9223372036854775808"], "--seed 9223372036854775808: expected"),
        (["--set", "capacity.usable=many"], "capacity.usable"),
        (["--set", "application.0.profile=absent.json"], "absent.json"),
        (["--catalogue", "absent.toml"], "absent.toml"),
    ],
)
def test_wrong_input_is_one_line(
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    message: str,
) -> None:
    assert headrace(["design", "solve", str(files[0]), *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_a_damaged_state_is_one_line(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / FILE).write_text("{")
    arguments = ["design", "solve", str(files[0]), "--catalogue", str(files[1])]
    assert headrace([*arguments, "-o", str(target)]) == 2
    assert "remove the file" in capsys.readouterr().err


def test_the_python_api_solves(files: tuple[Path, Path]) -> None:
    worksheet, catalogue = files
    found = hr.design.solve(worksheet, catalogue)
    assert found.chosen == 0
    assert "design" in dir(hr)
    assert "solve" in dir(hr.design)
    with pytest.raises(AttributeError, match="nothing"):
        _ = hr.design.nothing  # type: ignore[attr-defined]


def test_damaged_simulations_are_reported_before_the_search(tmp_path: Path) -> None:
    (tmp_path / "simulations.json").write_text("{")
    steps: list[str] = []
    with pytest.raises(ValueError, match="remove the file to begin anew"):
        solve(
            small_worksheet(),
            small_catalogue(),
            directory=tmp_path,
            on_progress=lambda _done, _total, what: steps.append(what),
        )
    assert not steps
