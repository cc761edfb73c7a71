"""The search: enumeration, front, requirements that are missed, resuming, and the command."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

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
    small_design,
    small_worksheet,
)
from headrace.cli.app import run as headrace
from headrace.design.capacity import capacity
from headrace.design.catalogue import ShelfModel
from headrace.design.enumeration import Housing, designs, fillings, horizon_capacity
from headrace.design.evaluate import evaluate
from headrace.design.evaluation import Choice, Reason, Solution
from headrace.design.figure import by_key
from headrace.design.options import Options, options
from headrace.design.pareto import front
from headrace.design.performance import DesignScenario, Simulated, measurement, simulation
from headrace.design.performance.simulation import Effort
from headrace.design.search import solution as solving
from headrace.design.search import solve
from headrace.design.search.candidates import Candidate, unsurpassed
from headrace.design.search.saved_runs import FILE
from headrace.design.search.simulation_plan import Efficiency, spread
from headrace.simulate import ParallelRuns


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


@given(st.lists(st.integers(), max_size=50), st.integers(1, 12))
def test_a_spread_has_the_first_and_the_last(values: list[int], count: int) -> None:
    found = spread(values, count)
    assert len(found) == min(count, len(values))
    if values and count > 1:
        assert (found[0], found[-1]) == (values[0], values[-1])


def test_designs_of_a_small_catalogue_by_hand() -> None:
    # 24 TB with the reserve. RAID 6 of 6 and 10 disks and of all 12, with 8 TB disks:
    # a server is enough; twice as many are tried too.
    catalogue = small_catalogue("disk.1.class=nvme").catalogue
    worksheet = small_worksheet().worksheet
    tried = Options(
        file_systems=("lustre",),
        disk_classes=("nearline",),
        arrays=("raid6",),
        copies=(1,),
        spares=(0,),
    )
    found = {
        (it.nodes, it.array.disks, it.arrays_per_node)
        for it in designs(worksheet, catalogue, tried)
    }
    assert found == {
        (1, 6, 1),
        (1, 6, 2),
        (1, 10, 1),
        (1, 12, 1),
        (2, 6, 1),
        (2, 6, 2),
        (2, 10, 1),
        (2, 12, 1),
    }


def test_an_evaluation_has_the_capacities_of_its_design() -> None:
    # The metadata servers of Lustre limit the number of files.
    worksheet, catalogue = small_worksheet().worksheet, small_catalogue().catalogue
    for it in list(designs(worksheet, catalogue, Options(metadata_nodes=(1, 2))))[::97]:
        assert evaluate(it, worksheet, catalogue, to_the_end=False).capacity == capacity(it)


def test_every_design_holds_the_data_and_fits_its_slots() -> None:
    worksheet = small_worksheet("capacity.usable=200 TB", "capacity.growth=0.3").worksheet
    catalogue = small_catalogue().catalogue
    found = list(designs(worksheet, catalogue, Options(copies=(1, 2), spares=(0, 1))))
    assert len(found) == len(set(found)) > 100
    assert horizon_capacity(worksheet) == pytest.approx(200e12 * 1.3**3)
    for it in found[::7]:
        assert by_key(capacity(it))["usable-capacity"].value >= 240e12 * (1 - 1e-9)
        assert it.disks_per_node <= it.node.slots
        assert it.nodes >= it.copies
        assert it.copies == 1 or it.file_system in ("glusterfs", "hdfs")


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
    shelves = {
        each.disks_per_node: each.shelves_per_node
        for each in designs(small_worksheet().worksheet, catalogue, tried)
        if each.array.disks == 6
    }
    assert shelves == {6: 0, 12: 0, 24: 2}


def test_choices_of_redundancy_and_clients_reach_the_design() -> None:
    worksheet, catalogue = small_worksheet().worksheet, small_catalogue().catalogue
    choices = [Choice("", "node-redundancy", ("fail-over", "redundant-network"), ())]
    tried = options(worksheet, catalogue, choices)
    assert (tried.fail_over, tried.paths, tried.client_ports) == (True, 2, 4)
    for each in designs(worksheet, catalogue, tried):
        assert each.fail_over_nodes == (each.copies == 1)
        assert (each.paths, each.client_ports) == (2, 4)
    linked = msgspec.structs.replace(worksheet.clients[0], has_network=True)
    windows = msgspec.structs.replace(worksheet.clients[0], name="desks", system="windows")
    worksheet = msgspec.structs.replace(worksheet, clients=(linked, windows))
    assert options(worksheet, catalogue, ()).client_ports == 4
    gateway = [Choice("", "gateway", ("gateway",), ())]
    assert options(worksheet, catalogue, gateway).client_ports == 0


def test_options_follow_the_choices() -> None:
    worksheet, catalogue = small_worksheet().worksheet, small_catalogue().catalogue
    choices = (
        choice("file-system", "glusterfs", "lustre", "nfs"),
        choice("array", "raid10", zone="data", rejected=("raid5", "raid0", "single")),
        choice("disk-class", "nearline", zone="data", rejected=("desktop",)),
        choice("spares", "1", rejected=("0",)),
        choice("stripe", "4 MiB", zone="data"),
        choice("distribution", "striped", zone="data"),
        choice("gateway", "gateway-pair"),
    )
    tried = options(worksheet, catalogue, choices)
    assert tried.file_systems == ("lustre", "glusterfs")
    assert tried.arrays == ("raid10", "raid1", "raid6", "draid")
    assert "desktop" not in tried.disk_classes
    assert tried.spares == (1, 2)
    assert (tried.stripe, tried.striped, tried.gateways) == (4 << 20, True, 2)
    assert tried.networks == ("10GbE",)
    everything = options(worksheet, catalogue, choices, everything=True)
    assert len(everything.file_systems) == 5
    assert everything.codes


def test_an_archive_may_have_a_code_over_servers() -> None:
    worksheet = small_worksheet().worksheet
    assert options(worksheet, small_catalogue().catalogue, ()).codes == ()
    low = msgspec.structs.replace(worksheet.zones[0], throughput="low")
    archive = msgspec.structs.replace(worksheet, zones=(low,))
    tried = options(archive, small_catalogue().catalogue, ())
    assert [(code.data, code.parity) for code in tried.codes] == [(4, 2), (8, 3)]


def test_demanded_copies_are_the_least() -> None:
    worksheet = small_worksheet("zone.0.copies=2").worksheet
    assert options(worksheet, small_catalogue().catalogue, ()).copies == (2, 3)


def test_a_kind_that_missed_by_far_is_passed_over() -> None:
    def candidate(headroom: float) -> Candidate:
        return Candidate(design=small_design(), cost=1.0, headroom=headroom, loss=0.0, power=1.0)

    efficiency = Efficiency()
    assert efficiency.allows(candidate(2.0))
    efficiency.note(candidate(2.0), 0.5)
    assert not efficiency.allows(candidate(2.0))
    assert efficiency.allows(candidate(4.0))


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.floats(1, 100)] * 4), min_size=1, max_size=15))
def test_the_cheapest_candidate_stays(values: list[tuple[float, ...]]) -> None:
    candidates = [
        Candidate(design=small_design(), cost=a, headroom=b, loss=c / 1e6, power=d)
        for a, b, c, d in values
    ]
    kept = unsurpassed(candidates)
    assert kept
    assert [it.cost for it in kept] == sorted(it.cost for it in kept)
    assert min(it.cost for it in kept) <= min(it.cost for it in candidates) * 1.021


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
    assert found.enumerated >= sum(found.discarded.values())
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
    found = solve(small_worksheet(), small_catalogue(), budget=1e-9)
    assert any("budget of" in it for it in found.unsure)


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
    from headrace.design.catalogue_file import read_catalogue

    found = solve(small_worksheet("budget.initial=50000"), read_catalogue(text))
    assert found.chosen is None
    messages = [it.message for it in found.nearest[0].violations]
    assert any("no price" in it for it in messages)


def test_a_worksheet_without_applications_is_solved_without_simulation() -> None:
    head = WORKSHEET_TEXT.split("[[application]]")[0]
    from headrace.design.worksheet_file import read_worksheet

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
