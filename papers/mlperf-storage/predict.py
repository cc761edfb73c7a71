"""Predicts results of MLPerf Storage from descriptions of systems.

    python papers/mlperf-storage/predict.py ROWS.csv [--given RESULTS.csv] [--json]

For each row it simulates the training at the stated number of accelerators, and then searches the
largest number that keeps the required utilisation. It reads the columns of DESCRIPTION, and no
result of the row. RESULTS.csv has published rows. The cost of a client is fitted on one of them: a
row of the same system, of the same workload if there is one.
"""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import headrace as hr

sys.path.append(str(Path(__file__).resolve().parents[1]))
from published import PROTOCOL, Description, Published, print_predictions

DESCRIPTION = (
    "id",
    "workload",
    "accelerators",
    "hosts",
    "samples_per_file",
    "sample_bytes",
    "sample_bytes_stdev",
    "batch_size_samples",
    "computation_time_s",
    "read_threads",
    "au_required_percent",
    "client_nic_Gbit_per_s",
    "client_nics",
    "storage_nodes",
    "server_nic_Gbit_per_s",
    "server_nics",
    "drives_per_node",
    "drive_read_MB_per_s",
    "stated_system_read_MB_per_s",
    "storage_kind",
)
"""Columns that are read."""
STEPS = {"unet3d": 30, "resnet50": 20, "cosmoflow": 100}
"""Steps that count. Those before take what loaders had read ahead, of which a whole run has few."""
STEP_TIME = {"unet3d": 4.3e-3, "resnet50": 1.2e-3, "cosmoflow": 1.1e-3}
"""Seconds of each step in which DLIO neither computes nor waits for storage (README.md)."""
THREADS_AHEAD = 2
"""Files that tf.data reads ahead for each that it reads (prefetch_input_elements), in a thread
each: `LegacyParallelInterleaveDatasetV2` has cycle_length + prefetch_input_elements threads."""
TRANSFERS = {"unet3d": "8 MiB", "resnet50": "16 MiB", "cosmoflow": "3 MB"}
"""Pieces in which samples are read here. DLIO's 256 KiB make as much of a rate, in more events."""
TIME_PER_BYTE = {"unet3d": 1.16e-9, "resnet50": 1.9e-9, "cosmoflow": 2.2e-9}
"""Processor time of DLIO's loaders for a byte, in seconds (README.md)."""
CORES = 96
"""Processors of a client: assumed, as no description has them."""
CLIENTS = {
    "local NVMe": (1.0, 6.0),
    "Lustre": (6.4, 43.0),
    "pNFS": (4.2, 20.0),
    "NVMe/TCP": (1.4, 12.0),
    "proprietary": (0.7, 20.0),
}
"""Processor time of a client for a byte, in times of its loader's, by how `storage_kind` begins:
the range of half of the systems, wider by half at either end (README.md)."""
WITHIN = 0.15
"""Relative half-width of the interval of network, drives and storage. Assumed."""
FITTED_WITHIN = {True: 0.6, False: 0.85}
"""The same of a fitted client: whether the given row has the same workload. In four of five pairs
of the half of the systems it holds."""
NEAR = 0.8
"""Share of the rate of network and storage from which a given row is not limited by its client."""
MOST = 1e6


@dataclass(frozen=True)
class Prediction:
    """Prediction of one row. Rates are in 1e6 bytes a second."""

    id: str
    au_percent: float
    throughput_MB_per_s: float
    accelerators_largest: int
    accelerators_largest_interval: tuple[int, int]
    limited_by: str


class System(Description):
    """A system as a row describes it.

    Args:
        row: The row, of which the columns of DESCRIPTION are read.
        given: A published row of the system, on which the client's cost is fitted.
    """

    def __init__(self, row: Published, given: Published | None = None) -> None:
        super().__init__(row, DESCRIPTION)
        self.hosts = int(self.number("hosts") or 1)
        self.workload = self.row["workload"]
        self.sample = self.number("sample_bytes") or 0.0
        self.batch = int(self.number("batch_size_samples") or 1)
        self.computation = self.number("computation_time_s") or 0.0
        self.step = self.computation + STEP_TIME[self.workload]
        self.loaders = int(self.number("read_threads") or 1)
        if self.workload != "unet3d" and int(self.number("samples_per_file") or 1) == 1:
            self.loaders *= 1 + THREADS_AHEAD
        self.required = (self.number("au_required_percent") or 90.0) / 100
        self.more = 1.0
        kind = self.row["storage_kind"]
        self.least, self.most = next(
            (ends for name, ends in CLIENTS.items() if kind.startswith(name)),
            CLIENTS["proprietary"],
        )
        self.cost = math.sqrt(self.least * self.most)
        if given is not None:
            self._fit(given)

    def _fit(self, row: Published) -> None:
        """Fit the client's cost on a published row. Its client gives at least the rate that was
        reached, and too little for one more accelerator of each host: the mean is taken. Near the
        rate of network or storage they are the limit, and the client costs at most that much."""
        given = System(row)
        each = int(row["accelerators"]) / given.hosts
        reached = each * given.batch * given.sample / given.computation
        reached *= float(row["au_mean_percent"]) / 100
        too_much = max(
            reached, (each + 1) * given.required * given.batch * given.sample / given.computation
        )
        behind = given.behind() / given.hosts
        if too_much >= NEAR * behind:
            self.more = max(1.0, reached / behind)
            self.cost = min(self.cost, given.cost_at(reached))
        else:
            self.cost = given.cost_at((reached + too_much) / 2)
        within = 1 + FITTED_WITHIN[given.workload == self.workload]
        self.least, self.most = self.cost / within, self.cost * within

    def cost_at(self, rate: float) -> float:
        """Return the cost of a client that gives this rate, in times of its loader's."""
        return CORES / rate / TIME_PER_BYTE[self.workload]

    def client(self, cost: float) -> float:
        """Return the bytes a second that all clients give at a cost."""
        return self.hosts * CORES / TIME_PER_BYTE[self.workload] / cost

    @property
    def demand(self) -> float:
        """Bytes a second of one accelerator that waits for nothing."""
        return self.batch * self.sample / self.computation

    def accelerators(self, rate: float) -> int:
        """Return how many accelerators keep their utilisation at a rate, by host alike."""
        return max(1, math.floor(rate / (self.required * self.demand) / self.hosts)) * self.hosts

    def limits(self) -> dict[str, float]:
        """Return the bytes a second that each known part can give."""
        rates = {
            "network": self.product("client_nic_Gbit_per_s", "client_nics", "hosts"),
            "servers' network": self.product(
                "server_nic_Gbit_per_s", "server_nics", "storage_nodes"
            ),
        }
        limits = {name: rate * PROTOCOL * 1e9 / 8 for name, rate in rates.items() if rate}
        drives = self.product("drive_read_MB_per_s", "drives_per_node", "storage_nodes")
        if drives is None:
            drives = self.product("drive_read_MB_per_s", "drives_per_node")
        for name, megabytes in (
            ("drives", drives),
            ("storage", self.number("stated_system_read_MB_per_s")),
        ):
            if megabytes:
                limits[name] = megabytes * 1e6
        return {name: rate * self.more for name, rate in limits.items()}

    def behind(self) -> float:
        """Return the bytes a second that network and storage give."""
        return min(self.limits().values(), default=MOST * 1e9)

    def limit(self) -> tuple[str, float]:
        """Return the part that gives least, and its rate."""
        limits = self.limits() | {"client": self.client(self.cost)}
        return min(limits.items(), key=lambda pair: pair[1])

    def scenario(self, accelerators: int, cost: float, counted: int) -> str:
        """Return a training with these accelerators as a scenario: clients, one wire each, and
        one storage that gives the least of all known rates behind it. The wire gives no more than a
        client of this cost. `counted` steps follow those that are skipped."""
        each = max(1, round(accelerators / self.hosts))
        # What is read ahead is used up after twice as many steps: a batch of each PyTorch loader,
        # and few batches of tf.data.
        skipped = 2 * max(self.loaders if self.workload == "unet3d" else 2, 10)
        steps = skipped + STEPS[self.workload]
        files = 2 * steps * self.batch * each * self.hosts
        samples = int(self.number("samples_per_file") or 1)
        limits = self.limits()
        wire = min(limits.pop("network", MOST * 1e9), self.client(cost)) / self.hosts
        storage = min(limits.values(), default=MOST * 1e9)
        deviation = self.number("sample_bytes_stdev") or 0.0
        return f"""
name = {json.dumps(self.row["id"])}
system = "ideal"
[clients]
count = {self.hosts}
processes = {each}
card.bandwidth = "{wire * 8 / 1e9:.6f} Gbit/s"
[network]
bandwidth = "{MOST} Gbit/s"
latency = "10 us"
[servers]
count = 1
device = {{ read_rate = "{storage / 1e6:.3f} MB/s", write_rate = "1 GB/s" }}
[layout]
unit = "64 MiB"
[[workload]]
preset = "{self.workload}"
files = {max(files // samples + each * self.hosts, each * self.hosts * self.loaders)}
samples_per_file = {samples}
sample = "{self.sample:.0f} B"
sample_deviation = "{deviation:.0f} B"
transfer = "{TRANSFERS[self.workload]}"
batch = {self.batch}
computation = "{self.step} s"
loaders = {self.loaders}
steps = {skipped + counted}
time_per_byte = "{TIME_PER_BYTE[self.workload] * 1e9:.3f} ns"
"""

    def run(self, accelerators: int, cost: float) -> float:
        """Return the utilisation at a number of accelerators, of the steps that count: the run with
        them less the run without them."""
        counted = STEPS[self.workload]
        seconds: list[float] = [
            hr.run(hr.load(self.scenario(accelerators, cost, steps))).document["simulated_seconds"]
            for steps in (0, counted)
        ]
        return min(1.0, counted * self.computation / (seconds[1] - seconds[0]))


def predict(row: Published, given: Published | None = None) -> Prediction:
    """Predict one row, from its description and perhaps a published row of the same system."""
    system = System(row, given)
    stated = int(system.number("accelerators") or 1)
    # A published number is one that a client could serve: unless it is fitted, it costs the least.
    utilisation = system.run(stated, system.least if given is None else system.cost)
    largest = _largest(system)
    behind = system.behind()
    low = min(behind * (1 - WITHIN), system.client(system.most))
    high = min(behind * (1 + WITHIN), system.client(system.least))
    return Prediction(
        id=system.row["id"],
        au_percent=round(100 * utilisation, 2),
        throughput_MB_per_s=round(utilisation * stated * system.demand / 1e6, 1),
        accelerators_largest=largest,
        accelerators_largest_interval=(
            min(largest, system.accelerators(low)),
            max(largest, system.accelerators(high)),
        ),
        limited_by=_limited_by(system, largest),
    )


def _limited_by(system: System, largest: int) -> str:
    name, rate = system.limit()
    # An accelerator waits for its own loaders, however few there are.
    own = system.loaders / TIME_PER_BYTE[system.workload]
    slow = own < system.required * system.demand
    return "loaders" if slow and largest * system.demand < 0.8 * rate else name


def _largest(system: System) -> int:
    """Return the largest number of accelerators, by host alike, that keeps the utilisation."""
    if system.run(system.hosts, system.cost) < system.required:
        return system.hosts
    at = system.accelerators(system.limit()[1]) // system.hosts
    while at > 1 and system.run(at * system.hosts, system.cost) < system.required:
        at = min(at - 1, math.floor(0.97 * at))
    return at * system.hosts


def closest(row: Published, results: Sequence[Published]) -> Published | None:
    """Return another row of the same system: if there is one, of the same workload, and then of as
    many hosts; the first of these."""
    others = [one for one in results if one["system"] == row["system"] and one["id"] != row["id"]]

    def differs(one: Published) -> tuple[bool, bool]:
        return one["workload"] != row["workload"], one["hosts"] != row["hosts"]

    return min(others, key=differs, default=None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the predictions of the rows of a file."""

    def given(row: Published, results: Sequence[Published]) -> dict[str, object]:
        return asdict(predict(row, closest(row, results)))

    return print_predictions(
        __doc__.splitlines()[0], DESCRIPTION, lambda row: asdict(predict(row)), arguments, given
    )


if __name__ == "__main__":
    sys.exit(main())
