"""Zones with servers of their own, and what can hold an archive in place of disks."""

import itertools
import json
import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Command
from design_search_sample import CATALOGUE_TEXT, small_catalogue
from headrace.design.archive import alternatives
from headrace.design.catalogue_file import LoadedCatalogue, load_catalogue, read_catalogue
from headrace.design.enumeration import complete, families, metadata
from headrace.design.evaluate import evaluate
from headrace.design.evaluation import Evaluation, Solution
from headrace.design.figure import by_key
from headrace.design.options import options
from headrace.design.performance import performance, scenario, simulation
from headrace.design.performance.simulation import Effort
from headrace.design.recommendation import recommend
from headrace.design.search import solve
from headrace.design.search.candidates import cost_of
from headrace.design.search.pools import zone_groups
from headrace.design.system import Design, join_pools
from headrace.design.worksheet import Worksheet, pool_worksheet, with_flows, zone_shares
from headrace.design.worksheet_file import LoadedWorksheet, read_worksheet
from headrace.views.solution import configuration

TWO_ZONES = """
name = "editing and archive"

[capacity]
usable = "40 TB"
growth = "10 %"
years = 3

[[client]]
name = "workstations"
count = 4

[[zone]]
name = "editing"
throughput = "medium"
share = "25 %"

[[zone]]
name = "archive"
throughput = "low"
share = "75 %"

[[data]]
name = "projects"
class = "large-database"
zone = "editing"

[[data]]
name = "films"
class = "large-multimedia"
zone = "archive"

[[flow]]
from = "editing"
to = "archive"
rate = "20 MB/s"

[recovery]
loss_probability = "5 %"

[budget]
electricity = 0.3
"""
APPLICATIONS = """
[[application]]
name = "cutting"
clients = ["workstations"]
zones = ["editing"]
pattern = "random"
transfer = "64 KiB"
read_share = 0.8
file_size = "256 MiB"
processes = 4
throughput = "150 MB/s"
latency_matters = true

[[application]]
name = "restore"
clients = ["workstations"]
zones = ["archive"]
pattern = "sequential"
transfer = "1 MiB"
read_share = 1.0
file_size = "256 MiB"
throughput = "60 MB/s"
latency = "500 ms"
"""
STILL = (
    TWO_ZONES.replace('rate = "20 MB/s"\n', "")
    .replace('usable = "40 TB"', 'usable = "120 TB"')
    .replace('share = "25 %"\n', 'share = "25 %"\ncopies = 2\n')
)
"""Without flows that are simulated, and with copies of one zone, which a common system has of all
data."""


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a fraction of a second."""
    short = Effort(24, 8, 0.2, 0.2, 5_000, 1)
    full = msgspec.structs.replace(short, replications=3)
    monkeypatch.setattr(simulation, "EFFORTS", {"coarse": short, "full": full, "whole": short})


def loaded(text: str = TWO_ZONES + APPLICATIONS, *sets: str) -> LoadedWorksheet:
    return read_worksheet(text, "zones.toml", list(sets))


def groups_of(worksheet: Worksheet) -> list[tuple[tuple[str, ...], ...]]:
    return zone_groups(worksheet, recommend(worksheet, small_catalogue().catalogue))


def test_zones_whose_disks_differ_are_separated() -> None:
    assert groups_of(loaded().worksheet) == [(("editing",), ("archive",))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('class = "large-database"', 'class = "large-multimedia"'),
        ('zones = ["editing"]', 'zones = ["editing", "archive"]'),
        ('share = "25 %"\n', ""),
    ],
)
def test_zones_stay_together(old: str, new: str) -> None:
    """Of equal data and throughput, with a common application, or of an unknown share."""
    text = (TWO_ZONES + APPLICATIONS).replace(old, new)
    if "multimedia" in new:
        text = text.replace('throughput = "medium"', 'throughput = "low"').replace(
            'pattern = "random"', 'pattern = "sequential"'
        )
        text = text.replace("latency_matters = true\n", "")
    assert groups_of(loaded(text).worksheet) == []


def test_a_share_that_is_left_open_follows_from_the_data() -> None:
    text = TWO_ZONES.replace('share = "25 %"\n', "").replace(
        'zone = "editing"\n', 'zone = "editing"\nsize = "8 TB"\n'
    )
    assert zone_shares(loaded(text).worksheet) == {"editing": 0.25, "archive": 0.75}


def test_the_requirements_of_a_zone() -> None:
    """A flow to another zone becomes one to an outside place, on a host of its own."""
    worksheet = loaded().worksheet
    part = with_flows(pool_worksheet(with_flows(worksheet), ("archive",)))
    assert part.capacity.usable == pytest.approx(30e12)
    assert [zone.share for zone in part.zones] == [1.0]
    assert [one.name for one in part.applications] == ["restore", "flow 0: editing to archive"]
    flow = part.applications[1]
    assert (flow.throughput, flow.read_share, flow.zones) == (20e6, 0.0, ("archive",))
    assert part.recovery == worksheet.recovery
    assert part.budget == worksheet.budget


def possible(worksheet: Worksheet, catalogue: LoadedCatalogue) -> list[Evaluation]:
    """Return all designs of up to three servers for a group of zones, evaluated by themselves."""
    sheet = with_flows(worksheet)
    tried = options(sheet, recommend(sheet, catalogue.catalogue))
    network = catalogue.catalogue.networks[0]
    designs = [
        complete(family.design(nodes, arrays), network, servers, tried)
        for family in families(catalogue.catalogue, tried)
        for nodes in range(family.least, 4)
        if nodes == family.whole_sets(nodes) and (family.file_system != "nfs" or nodes == 1)
        for arrays in range(1, family.filling.most + 1)
        for servers in metadata(family.file_system, catalogue.catalogue, tried)
    ]
    known = (evaluate(one, sheet, catalogue.catalogue, to_the_end=False) for one in designs)
    return [one for one in known if one.is_feasible]


def joined(parts: tuple[Evaluation, ...], worksheet: Worksheet) -> Evaluation:
    zones = (("editing",), ("archive",))
    design = join_pools([(name, one.design) for name, one in zip(zones, parts, strict=True)])
    return evaluate(design, worksheet, small_catalogue().catalogue)


def test_no_pair_of_servers_is_cheaper_than_the_answer() -> None:
    sheet, catalogue = loaded(STILL), small_catalogue()
    solution = solve(sheet, catalogue, budget=1e6)
    assert solution.chosen == 0
    assert solution.front[0].design.pools
    parts = [
        sorted(possible(pool_worksheet(sheet.worksheet, (zone,)), catalogue), key=cost_of)[:15]
        for zone in ("editing", "archive")
    ]
    pairs = (joined(pair, sheet.worksheet) for pair in itertools.product(*parts))
    least = min(cost_of(one) for one in pairs if one.is_feasible)
    assert cost_of(solution.front[0]) <= least * (1 + 1e-9)


def test_each_zone_has_room_of_its_own() -> None:
    """The sum of two pools suffices, but the archive's does not."""
    sheet = loaded(STILL).worksheet
    catalogue = small_catalogue()
    editing, archive = (
        min(possible(pool_worksheet(sheet, (zone,)), catalogue), key=cost_of)
        for zone in ("editing", "archive")
    )
    right = joined((editing, archive), sheet)
    assert not right.violations
    wrong = joined((archive, editing), sheet)
    assert [one.field for one in wrong.violations] == ["capacity.usable"]
    figures = by_key(wrong.capacity)
    assert figures["usable-capacity"].value == pytest.approx(
        figures["usable-capacity-of-1"].value + figures["usable-capacity-of-2"].value
    )
    assert figures["usable-capacity"].value > sheet.capacity.first_purchase


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Solution, Path]:
    short = Effort(24, 8, 0.2, 0.2, 5_000, 1)
    full = msgspec.structs.replace(short, replications=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation, "EFFORTS", {"coarse": short, "full": full, "whole": short})
        directory = tmp_path_factory.mktemp("solved")
        return solve(loaded(), small_catalogue(), directory=directory, budget=1e6), directory


def test_each_application_is_simulated_on_the_disks_of_its_zone(
    solved: tuple[Solution, Path],
) -> None:
    best = solved[0].front[0]
    assert best.design.pools
    assert [one.zones for one in best.design.each_pool] == [("editing",), ("archive",)]
    by_name: dict[str, list[str]] = {}
    for one in best.performance:
        by_name.setdefault(one.application, []).append(one.scenario)
        assert one.detail == "full"
    assert len(by_name["flow 0: editing to archive"]) == 2
    cutting, restore = by_name["cutting"][0], by_name["restore"][0]
    assert "restore" not in cutting
    assert "cutting" not in restore
    for design, text in zip(best.design.each_pool, (cutting, restore), strict=True):
        assert design.disk.name in text
    assert cost_of(best) < min(
        (cost_of(one) for one in solved[0].front if not one.design.pools), default=math.inf
    )


def test_a_design_is_simulated_pool_by_pool(solved: tuple[Solution, Path]) -> None:
    """Of the raw worksheet and of the one whose flows are applications alike."""
    best, worksheet = solved[0].front[0], loaded().worksheet
    names = [one.application for one in best.performance]
    for sheet in (worksheet, with_flows(worksheet)):
        reached = performance(best.design, sheet, detail="coarse")
        assert [one.application for one in reached] == names
    with pytest.raises(ValueError, match="one group of zones"):
        scenario(best.design, worksheet)


def test_the_configuration_names_the_disks_of_each_zone(solved: tuple[Solution, Path]) -> None:
    best = solved[0].front[0]
    text = "\n".join(configuration(best))
    for design in best.design.each_pool:
        zones = text.index(f"zones {design.zone_names}:")
        assert design.disk.name in text[zones:].splitlines()[1]


def test_pools_share_the_limits() -> None:
    """Each group alone meets the limit of loss, but the cheapest of both together do not."""
    free = solve(loaded(STILL), small_catalogue(), budget=1e6)
    losses = [
        by_key(free.front[0].reliability)[f"loss-probability-of-{place}"].value for place in (1, 2)
    ]
    limit = (max(losses) + sum(losses)) / 2
    sheet = loaded(STILL, f"recovery.loss_probability={limit}")
    solution = solve(sheet, small_catalogue(), budget=1e6)
    assert solution.chosen == 0
    best = solution.front[0]
    assert best.design.pools
    assert by_key(best.reliability)["loss-probability"].value <= limit
    assert cost_of(best) >= cost_of(free.front[0])


MORE = st.lists(
    st.sampled_from(
        [
            '[[disk]]\nname = "small flash"\nclass = "ssd"\ncapacity = "1.92 TB"\nprice = 190\n'
            'mttf = "2000000 h"\nbit_error_rate = 1e-17\nread_rate = "550 MB/s"\n'
            'access_time = "0.1 ms"\npower = "3 W"\n',
            '[[disk]]\nname = "20 TB"\nclass = "nearline"\ncapacity = "20 TB"\nprice = 390\n'
            'mttf = "2500000 h"\nbit_error_rate = 1e-15\nread_rate = "270 MB/s"\n'
            'access_time = "12.7 ms"\npower = "9 W"\n',
            '[[node]]\nname = "1U4"\nslots = 4\nrack_units = 1\nprice = 2100\nmemory = "32 GiB"\n'
            'cores = 8\nmax_power = "300 W"\npower = "120 W"\nbus_rate = "6 GB/s"\n',
            '[[network]]\nname = "dear"\nbandwidth = "25 Gbit/s"\nlatency = "10 us"\n'
            'adapter_price = 400\nport_price = 300\nport_power = "5 W"\n',
            '[[network]]\nname = "cheap"\nbandwidth = "1 Gbit/s"\nlatency = "30 us"\n'
            'adapter_price = 20\nport_price = 10\nport_power = "1 W"\n',
        ]
    ),
    min_size=1,
    unique=True,
)


@settings(max_examples=8, deadline=None)
@given(parts=MORE)
def test_more_parts_never_raise_the_cost_of_two_zones(parts: list[str]) -> None:
    before = solve(loaded(STILL), small_catalogue(), budget=1e6)
    more = read_catalogue("\n".join([CATALOGUE_TEXT, *parts]), "catalogue.toml")
    after = solve(loaded(STILL), more, budget=1e6)
    assert cost_of(after.front[0]) <= cost_of(before.front[0]) * (1 + 1e-9)


SEQUENCING = """
name = "sequencing centre"
[capacity]
usable = "1 PB"
growth = "20 %"
years = 4
[[client]]
name = "compute"
count = 24
[[zone]]
name = "scratch"
throughput = "high"
share = "10 %"
[[zone]]
name = "archive"
throughput = "low"
share = "90 %"
[[data]]
name = "indexes"
class = "large-database"
zone = "scratch"
[[data]]
name = "reads"
class = "large-compressed"
zone = "archive"
[[flow]]
from = "scratch"
to = "archive"
rate = "150 MB/s"
[[application]]
name = "recall"
clients = ["compute"]
zones = ["archive"]
pattern = "sequential"
read_share = 1.0
throughput = "500 MB/s"
latency = "200 ms"
"""


def test_the_places_of_an_archive_by_hand() -> None:
    """900 TB grow to 900 x 1.2^4 = 1,866.24 TB: 104 cartridges a copy.

    Reads of 500 MB/s and two copies of 150 MB/s keep three drives of 300 MB/s busy. The code 4+2
    needs 2,799.36 TB: six servers 4U36 (6,200 and a port of 12) with 30 disks of 16 TB (310) each.
    """
    catalogue = load_catalogue().catalogue
    known = {one.name: one for one in alternatives(loaded(SEQUENCING).worksheet, catalogue)}
    assert list(known) == ["erasure code over servers", "tape", "object store"]
    totals = {name: one.figures[-1].value for name, one in known.items()}
    assert totals["tape"] == 9000 + 3 * 4500 + 2 * 104 * 90
    assert totals["object store"] == pytest.approx(1866.24 * 4 * 12 * 4)
    code = by_key(known["erasure code over servers"].figures)
    assert code["code-servers"].value == 6
    assert code["code-purchase"].value == 6 * (6200 + 12 + 30 * 310)
    assert [missed.field for missed in known["tape"].violations] == ["application.0.latency"]
    assert known["object store"].violations == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('class = "large-compressed"', 'class = "small-files"'),
        ('throughput = "low"', 'throughput = "medium"'),
    ],
)
def test_a_zone_of_small_files_or_much_throughput_is_no_archive(old: str, new: str) -> None:
    sheet = loaded(SEQUENCING.replace(old, new)).worksheet
    assert alternatives(sheet, load_catalogue().catalogue) == ()


def test_the_command_tells_disks_and_places(headrace: Command, tmp_path: Path) -> None:
    (tmp_path / "zones.toml").write_text(STILL)
    (tmp_path / "catalogue.toml").write_text(CATALOGUE_TEXT)
    ended = headrace(
        "design", "solve", tmp_path / "zones.toml", "--catalogue", tmp_path / "catalogue.toml",
        "-o", tmp_path / "out", "--no-progress",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    for text in ("zones editing:", "zones archive:", "data disks of archive", "object store"):
        assert text in ended.stdout
    document = json.loads((tmp_path / "out" / "solution.json").read_text())
    assert {one["name"] for one in document["archives"]} >= {"tape", "disks of the design"}
    report = (tmp_path / "out" / "report.html").read_text()
    for text in ("Configuration of editing", "Places for archives", "data servers of archive"):
        assert text in report


def test_a_design_without_zones_is_its_only_pool() -> None:
    design: Design = possible(
        pool_worksheet(loaded(STILL).worksheet, ("editing",)), small_catalogue()
    )[0].design
    assert design.each_pool == (design,)
