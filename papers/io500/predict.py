"""Predicts phases of IO500 from descriptions of systems.

    python papers/io500/predict.py ROWS.csv [--json]

Of a row it reads the columns of DESCRIPTION alone, and no result. Costs of operations and intervals
are those of costs.csv (README.md).
"""

import csv
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import headrace as hr

sys.path.append(str(Path(__file__).resolve().parents[1]))
from published import PROTOCOL, Description, Published, print_predictions

DESCRIPTION = (
    "submission",
    "system",
    "kind",
    "client_nodes",
    "procs_per_node",
    "data_servers",
    "metadata_servers",
    "drives_per_data_server",
    "drive_read_MB_per_s",
    "drive_write_MB_per_s",
    "client_nic_Gbit_per_s",
    "client_nics",
    "server_nic_Gbit_per_s",
    "server_nics",
    "stated_max_read_MB_per_s",
    "stated_max_write_MB_per_s",
    "ior_easy_transfer_bytes",
)
"""Columns that are read."""
COSTS = Path(__file__).with_name("costs.csv")
EASY = ("ior_easy_write_MB_per_s", "ior_easy_read_MB_per_s")
HARD = ("ior_hard_write_MB_per_s", "ior_hard_read_MB_per_s")
OPERATIONS = {
    "mdtest_easy_write_ops_per_s": "create",
    "mdtest_easy_stat_ops_per_s": "stat",
    "mdtest_easy_delete_ops_per_s": "unlink",
    "mdtest_hard_write_ops_per_s": "create",
    "mdtest_hard_stat_ops_per_s": "stat",
    "mdtest_hard_read_ops_per_s": "read",
    "mdtest_hard_delete_ops_per_s": "unlink",
}
"""Phases of mdtest, with the operation of the simulation whose rate is theirs."""
FIND = "find_ops_per_s"
PHASES = (*EASY, *HARD, *OPERATIONS, FIND)
HARD_BYTES = 47008
LATENCY = 5e-6
"""Seconds one way: declared, for InfiniBand, Omni-Path and Slingshot with their software."""
DATA_THREADS = {"DAOS": 256}
METADATA_THREADS = {"DAOS": 32}
"""Operations that a server serves at once, declared: two DAOS engines of 16 targets, whose requests
for data wait for drives. Others: OTHER_DATA_THREADS, OTHER_METADATA_THREADS."""
OTHER_DATA_THREADS, OTHER_METADATA_THREADS = 64, 16
PARITY = 0.8
"""Share of written bytes that are data where DAOS has erasure codes: declared, 8 and 2."""
LOCK_MESSAGES = 1.74
"""Messages about locks that a write of ior-hard costs in the simulation: 72,001 writes a second of
ten clients with two servers of 16 us a message."""
ONE_DIRECTORY = ("BeeGFS",)
"""Systems that keep a directory on one metadata server: BeeGFS documentation, metadata tuning."""
OPERATIONS_IN_ALL = 16_000
LEAST_PROCESSES = 1000
"""Processes that stay where clients and servers are divided alike."""
MOST_PROCESSES = 10_000
UNLIMITED = 1e15
"""A rate in bytes a second that limits nothing."""


@dataclass(frozen=True)
class Cost:
    """A line of costs.csv: a time of an operation in seconds, or a rate by clients."""

    value: float
    exponent: float
    low: float
    high: float


@cache
def costs() -> Mapping[tuple[str, str, str], Cost]:
    """Read costs.csv, by kind of system, phase and quantity."""
    with COSTS.open(newline="", encoding="utf-8") as file:
        return {
            (line["kind"], line["phase"], line["quantity"]): Cost(
                *(float(line[name]) for name in ("value", "exponent", "low", "high"))
            )
            for line in csv.DictReader(file)
        }


@dataclass(frozen=True)
class Phase:
    """Prediction of a phase, in 1e6 bytes or in operations a second."""

    predicted: float
    interval: tuple[float, float]
    limited_by: str


@dataclass(frozen=True)
class Prediction:
    """Prediction of one row."""

    submission: str
    scale: str
    """The part of the system that was simulated."""
    phases: Mapping[str, Phase]


class System(Description):
    """A system as a row describes it."""

    def __init__(self, row: Published) -> None:
        super().__init__(row, DESCRIPTION)
        self.clients = int(self.number("client_nodes") or 1)
        self.each = int(self.number("procs_per_node") or 1)
        self.servers = int(self.number("data_servers") or 0)
        self.metadata_servers = int(self.number("metadata_servers") or 0) or self.servers
        self.kind = self.row["kind"]
        self.coded = self.kind == "DAOS" and "-EC" in self.row["system"]
        numbers = (self.clients, self.servers, self.metadata_servers)
        self.divisor = math.gcd(*numbers) if self.servers else 1
        processes = self.clients * self.each
        while self.divisor > 1 and processes / self.divisor < LEAST_PROCESSES:
            self.divisor = next(
                at for at in range(self.divisor - 1, 0, -1) if self.divisor % at == 0
            )
        # Too many processes, and no divisor: servers are rounded, and get what that leaves out.
        self.divisor = max(self.divisor, min(self.clients, processes // MOST_PROCESSES))

    def simulated(self, servers: int, divisor: int) -> tuple[int, float]:
        """Return how many servers are simulated, and how many each of them stands for of its
        part: 1 if the division is even."""
        part = max(1, servers) / self.factor(divisor)
        count = max(1, round(part))
        return count, part / count

    def factor(self, divisor: int) -> float:
        """Return the ratio of clients to those that are simulated."""
        return self.clients / (self.clients // divisor)

    def cost(self, phase: str, quantity: str) -> Cost | None:
        """Return a line of costs.csv for this kind of system; for rates by clients, of any."""
        kinds = ["DAOS EC"] if self.coded else []
        kinds += [self.kind, "any"] if quantity == "by clients" else [self.kind]
        known = (costs().get((kind, phase, quantity)) for kind in kinds)
        return next((cost for cost in known if cost is not None), None)

    def limits(self, direction: str) -> dict[str, float]:
        """Return the bytes a second that each known part can give."""
        card = self.product("server_nic_Gbit_per_s", "server_nics")
        # Clients whose cards are not stated have those of servers: declared.
        client = self.product("client_nic_Gbit_per_s", "client_nics") or card
        rates = {}
        if client:
            rates["network"] = client * self.clients * PROTOCOL * 1e9 / 8
        if card and self.servers:
            at = self.metadata_servers if self.kind == "VAST (NFS)" else self.servers
            rates["servers' network"] = card * at * PROTOCOL * 1e9 / 8
        drives = self.product(
            f"drive_{direction}_MB_per_s", "drives_per_data_server", "data_servers"
        )
        part = PARITY if self.coded and direction == "write" else 1.0
        if drives:
            rates["drives"] = drives * 1e6 * part
        stated = self.number(f"stated_max_{direction}_MB_per_s")
        if stated:
            rates["storage"] = stated * 1e6
        return rates

    def limit(self, direction: str) -> tuple[str, float]:
        """Return the known part that gives least, and its rate."""
        return min(self.limits(direction).items(), key=lambda pair: pair[1])

    def threads(self, phase: str) -> int:
        """Return the operations of a phase that a server serves at once."""
        if phase in HARD:
            return DATA_THREADS.get(self.kind, OTHER_DATA_THREADS)
        return METADATA_THREADS.get(self.kind, OTHER_METADATA_THREADS)

    def servers_of(self, phase: str) -> int:
        """Return the number of servers that share the operations of a phase."""
        if phase in HARD:
            return self.servers
        one = self.kind in ONE_DIRECTORY and phase.startswith("mdtest_hard")
        return 1 if one else self.metadata_servers

    def scenario(
        self, workload: str, *, divisor: int, daemon: float = 0.0, extra: str = "", unit: str = ""
    ) -> str:
        """Return a scenario: clients and servers, all divided alike."""
        servers, share = self.simulated(self.servers, divisor)
        write, read = (self.limits(direction) for direction in ("write", "read"))

        def each(rates: Mapping[str, float], *names: str) -> float:
            return min((rates[name] for name in names if name in rates), default=UNLIMITED)

        wire = each(read, "network") / self.clients
        card = each(read, "servers' network") / max(1, self.servers) * share
        rate = {
            name: each(rates, "drives", "storage") / max(1, self.servers) * share
            for name, rates in (("write", write), ("read", read))
        }
        rates = ", ".join(f'{name}_rate = "{one / 1e6:.3f} MB/s"' for name, one in rate.items())
        threads = max(1, round(self.threads(HARD[0]) * share))
        return f"""
name = {json.dumps(self.row["submission"])}
system = "ideal"
[clients]
count = {self.clients // divisor}
processes = {self.each}
card.bandwidth = "{wire * 8 / 1e9:.6f} Gbit/s"
[network]
bandwidth = "{UNLIMITED * 8 / 1e9:.0f} Gbit/s"
latency = "{LATENCY * 1e6} us"
[servers]
count = {servers}
card.bandwidth = "{card * 8 / 1e9:.6f} Gbit/s"
device = {{ {rates} }}
daemon = {{ threads = {threads}, time_per_job = "{daemon * 1e6:.4f} us" }}
[layout]
unit = "{unit or "1 MiB"}"
{extra}
[[workload]]
{workload}
"""

    def count(self, divisor: int, pieces: float = 1) -> int:
        """Return how many operations a process does, of so many pieces each."""
        processes = self.clients // divisor * self.each
        return max(4, min(100, math.ceil(OPERATIONS_IN_ALL / processes / pieces)))

    def easy(self) -> dict[str, float]:
        """Simulate ior-easy, and return bytes a second."""
        transfer = int(self.number("ior_easy_transfer_bytes") or 2**20)
        count = self.count(self.divisor, max(1, transfer / 2**20 / 4))
        workload = f"""preset = "ior-easy"
transfer = "{transfer} B"
block = "{transfer * count} B"
"""
        text = self.scenario(workload, divisor=self.divisor)
        rates = _rates(text, self.factor(self.divisor))
        return {EASY[0]: rates["write"], EASY[1]: rates["read"]}

    def hard(self, phase: str, time: float) -> float:
        """Simulate a phase of ior-hard, and return bytes a second.

        Servers write through, so it has no sync, which would be one operation more of each process
        on each server: much of a short phase, and nothing of 300 s."""
        direction = "write" if phase == HARD[0] else "read"
        locked = direction == "write" and self.kind == "Lustre"
        _, share = self.simulated(self.servers, self.divisor)
        lock = f'[locks]\nkind = "extent"\ntime_per_lock = "{time / share * 1e6:.4f} us"'
        workload = f"""preset = "ior-hard"
phases = ["{direction}"]
segments = {self.count(self.divisor)}
"""
        text = self.scenario(
            workload,
            divisor=self.divisor,
            daemon=0.0 if locked else time,
            extra=lock if locked else "",
        )
        return _rates(text, self.factor(self.divisor))[direction]

    def metadata(self, times: Mapping[str, float], kind: str) -> dict[str, float]:
        """Simulate mdtest with a time for each phase, and return operations a second."""
        some = next(iter(times))
        servers = self.servers_of(some)
        divisor = self.divisor if servers > 1 else 1
        operations = {OPERATIONS[phase]: time for phase, time in times.items()}
        listed = ", ".join(
            f'{"open" if name == "read" else name} = "{time * 1e6:.4f} us"'
            for name, time in operations.items()
        )
        count, share = self.simulated(servers, divisor)
        extra = f"""[metadata]
servers = {count}
threads = {max(1, round(self.threads(some) * share))}
times = {{ {listed} }}
"""
        names = [name for name in ("create", "stat", "read", "unlink") if name in operations]
        phases = json.dumps(list(dict.fromkeys(["create", *names])))
        workload = f"""preset = "mdtest-{kind}"
phases = {phases}
files = {self.count(divisor)}
"""
        text = self.scenario(workload, divisor=divisor, extra=extra, unit="1 GiB")
        rates = _rates(text, self.factor(divisor))
        return {phase: rates[OPERATIONS[phase]] for phase in times}


def _rates(scenario: str, factor: float) -> dict[str, float]:
    """Run a part of a system, and return what all parts do in a second: bytes of ior, operations of
    mdtest. The rate of writes is that to the end of their sync."""
    operations = hr.run(hr.load(scenario)).document["operations"]
    rates = {name: one["per_second"] * factor for name, one in operations.items()}
    if "create" not in operations:
        for name in ("write", "read"):
            if name in operations:
                seconds = operations[name]["active_seconds"]
                if name == "write" and "sync" in operations:
                    seconds += operations["sync"]["active_seconds"]
                rates[name] = operations[name]["bytes"] / seconds * factor
    return rates


def predict(row: Published) -> Prediction:
    """Predict one row."""
    system = System(row)
    phases = {**_easy(system), **_operations(system)}
    for phase in PHASES:
        if phase not in phases:
            phases[phase] = _by_clients(system, phase)
    if not system.number("client_nodes"):
        unknown = "unknown: client_nodes, taken as 1"
        phases = {name: replace(phase, limited_by=unknown) for name, phase in phases.items()}
    part = f"1/{system.divisor} of clients and servers" if system.divisor > 1 else "all"
    return Prediction(system.row["submission"], part, {name: phases[name] for name in PHASES})


def _easy(system: System) -> dict[str, Phase]:
    """Predict ior-easy: what cards, drives and the stated maximum allow."""
    phases: dict[str, Phase] = {}
    simulated: dict[str, float] = {}
    for phase, direction in zip(EASY, ("write", "read"), strict=True):
        limits = system.limits(direction)
        if not limits:
            continue
        simulated = simulated or system.easy()
        name, _ = system.limit(direction)
        complete = "drives" in limits or "storage" in limits
        if name == "network" and not system.row["client_nic_Gbit_per_s"]:
            name = "network, assumed as the servers'"
        if not complete:
            name = f"{name}; unknown: drives"
        cost = costs()["any", "ior_easy", name.split("; ")[-1]]
        phases[phase] = _phase(simulated[phase] / 1e6, cost, name)
    return phases


def _operations(system: System) -> dict[str, Phase]:
    """Predict the phases that a time of an operation limits."""
    times = {
        phase: cost for phase in PHASES if (cost := system.cost(phase, "time")) and system.servers
    }
    phases: dict[str, Phase] = {}
    for phase in HARD:
        if phase in times:
            phases[phase] = _phase(
                system.hard(phase, times[phase].value) / 1e6, times[phase], _cause(system, phase)
            )
    for kind, reads in (("easy", False), ("hard", False), ("hard", True)):
        # A read has a run of its own: the time of its open would be one of creating, too.
        own = {
            phase: times[phase].value
            for phase, operation in OPERATIONS.items()
            if kind in phase and phase in times and (operation == "read") == reads
        }
        if own:
            for phase, rate in system.metadata(own, kind).items():
                phases[phase] = _phase(rate, times[phase], _cause(system, phase))
    if FIND in times:
        rate = system.servers_of(FIND) * system.threads(FIND) / times[FIND].value
        phases[FIND] = _phase(rate, times[FIND], "metadata servers, or the program that finds")
    return phases


def _cause(system: System, phase: str) -> str:
    """Return what limits a phase of small operations."""
    cost = system.cost(phase, "time")
    assert cost is not None
    time = cost.value
    processes = system.clients * system.each
    capacity = system.servers_of(phase) * system.threads(phase) / time
    candidates = {"round trips of processes": processes / (time + 2 * LATENCY)}
    if phase not in HARD:
        candidates["metadata servers' time per operation"] = capacity
    else:
        direction = "write" if phase == HARD[0] else "read"
        for name, rate in system.limits(direction).items():
            candidates[name] = rate / HARD_BYTES
        if direction == "write" and system.kind == "Lustre":
            candidates = {"locks": system.servers / LOCK_MESSAGES / time}
        else:
            candidates["servers' time per operation"] = capacity
    return min(candidates.items(), key=lambda pair: pair[1])[0]


def _by_clients(system: System, phase: str) -> Phase:
    """Predict a phase by other systems with as many clients, where facts are missing."""
    if not system.servers:
        missing = "servers, drives, networks"
    elif phase in EASY:
        missing = "drives, networks"
    else:
        missing = "lock or request time" if phase in HARD else "metadata time per operation"
    cost = system.cost(phase, "by clients")
    assert cost is not None
    rate = cost.value * system.clients**cost.exponent
    return _phase(rate, cost, f"unknown: {missing} (median of other systems by clients)")


def _phase(rate: float, cost: Cost, name: str) -> Phase:
    return Phase(round(rate, 1), (round(rate * cost.low, 1), round(rate * cost.high, 1)), name)


def document(row: Published) -> dict[str, Any]:
    """Predict one row, as a document."""
    return asdict(predict(row))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the predictions of the rows of a file."""
    return print_predictions(__doc__.splitlines()[0], DESCRIPTION, document, arguments)


if __name__ == "__main__":
    sys.exit(main())
