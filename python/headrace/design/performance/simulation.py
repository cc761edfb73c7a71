"""Scenarios of designs, and the performance of each application in their simulation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from headrace.design.evaluation import ApplicationPerformance
from headrace.design.performance.pacing import Pace
from headrace.design.performance.scenario_text import ScenarioText
from headrace.design.performance.system import simulated_nodes, write_system
from headrace.design.performance.workloads import ApplicationLoad, write_applications
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet
from headrace.fields import convert
from headrace.quantities import numbered, quantity, written_time
from headrace.simulate.result import Result
from headrace.training import Training

Detail = Literal["coarse", "full", "whole"]
"""`coarse` and `full` simulate a part of a large system's servers, `whole` all of them."""

LEFT_OUT = (
    "servers cache no data beyond the memory of their arrays",
    "clients are on the network of the servers",
    "files are as old as the run: fragmentation and full disks are left out",
)
"""Simplifications of every scenario of a design."""


class Effort(msgspec.Struct, frozen=True):
    """Size and length of a simulation. A coarse one differs from the whole one only if that takes
    longer than about a second."""

    disks: int
    """Simulated disks, about, at most."""
    clients: int
    """Simulated clients, at most."""
    warm_up: float
    """Simulated seconds before anything is measured."""
    measured: float
    """Simulated seconds that are measured."""
    requests: int
    """Requests after which a run ends sooner."""
    replications: int


EFFORTS: dict[Detail, Effort] = {
    "coarse": Effort(600, 32, 1.0, 2.0, 400_000, 1),
    "full": Effort(600, 32, 1.0, 1.5, 400_000, 3),
    "whole": Effort(1_000_000, 32, 1.0, 2.0, 400_000, 1),
}
MOST_EVENTS: dict[Detail, float] = {"coarse": 2e6, "full": 8e6, "whole": 12e6}
"""Events of a simulation, at most, from which its simulated time follows (declared: seconds on a
core)."""
LEAST_PART: dict[Detail, float] = {"coarse": 0.2, "full": 0.4, "whole": 0.4}
"""Least part of the usual time that is simulated."""


class DesignScenario(msgspec.Struct, frozen=True, kw_only=True):
    """A design with its applications as a scenario."""

    toml: str
    loads: tuple[ApplicationLoad, ...]
    notes: tuple[str, ...]
    """Its simplifications."""
    detail: Detail
    scale: float
    """Real servers for each that is simulated."""
    warm_up: float
    """Simulated seconds before anything is measured."""
    replications: int


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Performance of an application in a simulation."""

    throughput: float
    """Bytes a second."""
    operations: float
    """Calls a second."""
    latency: float
    """Seconds, mean of a call."""
    slower: float = 0.0
    """Seconds, mean of the slower kind of call, since cached writes are faster than reads."""
    p99: float = 0.0
    """Seconds that 99 % of the calls of the slower kind take at most."""
    throughput_error: float | None = None
    au: float | None = None
    """Part of the time in which the accelerators of a training compute."""
    training: Training | None = None


class Simulated(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a simulation of a design."""

    applications: dict[str, Measured]
    limiting_resource: str
    sentence: str
    event_rate: float
    """Events of a simulated second."""
    seconds: float
    """Time that the run took."""


def scenario(
    design: Design,
    worksheet: Worksheet,
    *,
    detail: Detail = "full",
    directory: Path = Path(),
    seed: int = 1,
    latencies: Mapping[str, float] | None = None,
    part: float = 1.0,
) -> DesignScenario:
    """Return the scenario of a design with all applications at once.

    Without `latencies` the applications ask without pause, up to 2.5 times what they want. With
    them they ask for little more than they want.

    Args:
        design: The system.
        worksheet: Applications and clients.
        detail: How much is simulated: "coarse" for few servers and clients and a short time, "full"
            for more and for intervals, "whole" for all servers.
        directory: Directory of the worksheet, which its files are relative to.
        seed: Seed of the random numbers.
        latencies: Mean seconds of a call of each application, by its name, in a run before.
        part: Part of the usual time that is simulated.

    Raises:
        ValueError: The worksheet has no application, one cannot run on the file system, or a file
            that it names cannot be read as one.
        OSError: Such a file cannot be read.

    Examples:
        >>> from headrace.design.system import Array, Design
        >>> catalogue = hr.design.load_catalogue().catalogue
        >>> array = Array(kind="raid6", disks=12, data=10, parity=2, chunk=256 << 10)
        >>> node, disk, network = catalogue.nodes[0], catalogue.disks[1], catalogue.networks[1]
        >>> counts = {"nodes": 2, "disks_per_node": 12, "arrays_per_node": 1, "spares_per_node": 0}
        >>> parts = {"node": node, "disk": disk, "array": array, "network": network}
        >>> design = Design(file_system="glusterfs", metadata_nodes=0, **counts, **parts)
        >>> from headrace.design.performance import scenario
        >>> worksheet = hr.design.load_worksheet("scenarios/design/lab.toml").worksheet
        >>> hr.load(scenario(design, worksheet, detail="coarse").toml).summary
        'parallel system glusterfs, 22 clients, 2 servers; ...'
    """
    if not worksheet.applications:
        raise ValueError(
            "the worksheet has no application: expected [[application]], so that something can be"
            " simulated"
        )
    if design.pools:
        raise ValueError(f"{design.name}: expected the servers of one group of zones")
    effort = EFFORTS[detail]
    warm_up, measured = effort.warm_up * part, effort.measured * part
    text = ScenarioText()
    text.value("name", worksheet.name)
    text.value("description", design.name)
    text.value("system", design.file_system)
    nodes = simulated_nodes(design, effort.disks)
    scale = design.nodes / nodes
    is_synchronous = any(one.synchronous for one in worksheet.applications)
    part_of_it = msgspec.structs.replace(design, nodes=nodes)
    notes = [*write_system(text, part_of_it, scale, is_synchronous=is_synchronous)]
    loads, simplified, seconds = write_applications(
        text,
        msgspec.structs.replace(design, nodes=nodes),
        worksheet,
        directory=directory,
        most_clients=effort.clients,
        pace=Pace(latencies),
        scale=scale,
        seconds=warm_up + measured,
    )
    # The steps of a training are its repetitions, and its figures have no warm-up.
    is_training = any(load.need for load in loads)
    replications = 1 if is_training else effort.replications
    text.section("run")
    text.value("seed", seed)
    text.value("warm_up", written_time(warm_up))
    if replications > 1:
        text.value("replications", replications)
    text.section("run.stop")
    text.value("time", written_time(seconds))
    if not is_training:
        text.value("requests", effort.requests)
    return DesignScenario(
        toml=text.text(),
        loads=loads,
        notes=(*notes, *simplified, *LEFT_OUT),
        detail=detail,
        scale=scale,
        warm_up=warm_up,
        replications=replications,
    )


def part_for(event_rate: float, detail: Detail) -> float:
    """Return the part of the usual time that a simulation has time for.

    Args:
        event_rate: Events of a simulated second, from a simulation with less detail.
        detail: Detail of the simulation.
    """
    effort = EFFORTS[detail]
    whole = event_rate * (effort.warm_up + effort.measured) * effort.replications
    return min(1.0, max(LEAST_PART[detail], MOST_EVENTS[detail] / whole)) if whole > 0 else 1.0


def read_result(case: DesignScenario, result: Result) -> Simulated:
    """Return the performance of each application in a result."""
    document = result.document
    intervals = document.get("intervals", {}).get("groups", {})
    measured = document["simulated_seconds"] - case.warm_up
    applications = {}
    for load in case.loads:
        moved = calls = waited = slower = p99 = 0.0
        for group in load.groups:
            figures = document["groups"].get(group)
            if figures is None:
                continue
            operations = figures["operations"].values()
            kinds = [
                it for name, it in figures["latency"].items() if name != "all" and it.get("count")
            ]
            slower = max([slower, *(kind["mean"] for kind in kinds)])
            p99 = max([p99, *(kind["p99"] for kind in kinds)])
            count = sum(kind["count"] for kind in kinds)
            total = sum(kind["count"] * kind["mean"] for kind in kinds)
            active = max((entry["active_seconds"] or 0.0 for entry in operations), default=0.0)
            elapsed = measured if load.repeats else active
            if elapsed <= 0:
                continue
            moved += sum(operation["bytes"] for operation in operations) / elapsed
            calls += count / elapsed
            waited += total / elapsed
        # Of reads and writes the sum, which is at least the error of their sum.
        errors = [
            value
            for group in load.groups
            for value in intervals.get(group, {}).get("throughput", {}).values()
            if value is not None
        ]
        training = _training(document.get("trainings", ()), load, case.scale)
        busy = None
        if training is not None and load.need is not None:
            busy = training.utilisation
            busy = min(1.0, moved * case.scale / load.need.rate) if busy is None else busy
        applications[load.application.name] = Measured(
            throughput=moved * case.scale,
            operations=calls * case.scale,
            latency=waited / calls if calls else 0.0,
            slower=slower,
            p99=p99,
            throughput_error=case.scale * sum(errors) if errors else None,
            au=busy,
            training=training,
        )
    bottleneck = document["bottleneck"]
    return Simulated(
        applications=applications,
        limiting_resource=str(bottleneck.get("station") or "") if bottleneck["saturated"] else "",
        sentence=str(bottleneck["sentence"]),
        event_rate=document["events"] / case.replications / document["simulated_seconds"],
        seconds=float(document["wall_seconds"]),
    )


def _training(trainings: Sequence[object], load: ApplicationLoad, scale: float) -> Training | None:
    """Return the figures of a training with all its accelerators; None of other applications."""
    if load.need is None:
        return None
    read = convert(trainings, tuple[Training, ...])
    one = next(each for each in read if each.workload in load.sections)
    return msgspec.structs.replace(
        one,
        accelerators=load.need.accelerators,
        samples_per_second=scale * (one.samples_per_second or 0.0),
        bytes_per_second=scale * (one.bytes_per_second or 0.0),
    )


def satisfaction(loads: tuple[ApplicationLoad, ...], simulated: Simulated) -> float:
    """Return the least part of a requirement that any application gets: 1 or more if all of
    them are met."""
    parts = []
    for load in loads:
        got = simulated.applications[load.application.name]
        wants = load.application
        if wants.throughput:
            parts.append(got.throughput / wants.throughput)
        if wants.operations:
            parts.append(got.operations / wants.operations)
        if wants.au and got.au is not None:
            parts.append(got.au / wants.au)
        if wants.latency and got.slower:
            parts.append(wants.latency / got.slower)
        if wants.latency_p99 and got.p99:
            parts.append(wants.latency_p99 / got.p99)
    return min(parts, default=1.0)


def _in_flight(load: ApplicationLoad, got: Measured) -> str:
    """Return what limits an application if nothing is saturated: its calls at a time."""
    calls = load.callers
    each = quantity(got.latency, "s").partition(" (")[0]
    return f"{numbered(calls, 'call')} in flight, {each} each"


def performances(
    case: DesignScenario, simulated: Simulated, capability: Mapping[str, float]
) -> tuple[ApplicationPerformance, ...]:
    """Return the performance of each application.

    Args:
        made: The scenario that `simulated` is of.
        simulated: The run to judge by.
        capability: Bytes a second of each application when all ask without pause.
    """
    return tuple(
        ApplicationPerformance(
            application=load.application.name,
            throughput=(got := simulated.applications[load.application.name]).throughput,
            operations=got.operations,
            latency=got.slower,
            latency_p99=got.p99 or None,
            throughput_error=got.throughput_error,
            wanted_throughput=load.application.throughput,
            wanted_operations=load.application.operations,
            wanted_latency=load.application.latency,
            wanted_latency_p99=load.application.latency_p99,
            wanted_au=load.application.au,
            au=got.au,
            training=got.training,
            capability=capability.get(load.application.name),
            limiting_resource=simulated.limiting_resource or _in_flight(load, got),
            detail="coarse" if case.detail == "coarse" else "full",
            scenario=case.toml,
            notes=(*load.notes, *case.notes),
        )
        for load in case.loads
    )
