"""Predicts results of MLPerf Storage from descriptions of systems.

    python papers/mlperf-storage/predict.py ROWS.csv [--json]

For each row it simulates the training at the stated number of accelerators, and then searches the
largest number that keeps the required utilisation. Of a row it reads the columns of DESCRIPTION
alone, and no result.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import headrace as hr

sys.path.append(str(Path(__file__).resolve().parents[1]))
from published import PROTOCOL, Description, print_predictions

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
)
"""Columns that are read."""
STEPS = {"unet3d": 30, "resnet50": 20, "cosmoflow": 100}
"""Steps that count. Those before take what loaders had read ahead, of which a whole run has few."""
TRANSFERS = {"unet3d": "8 MiB", "resnet50": "16 MiB", "cosmoflow": "3 MB"}
"""Pieces in which samples are read here. DLIO's 256 KiB make as much of a rate, in more events."""
TIME_PER_BYTE = {"unet3d": 1.16e-9, "resnet50": 1.9e-9, "cosmoflow": 2.2e-9}
"""Processor time of DLIO's loaders for a byte, in seconds (README.md)."""
CORES = 96
"""Processors of a client: assumed, as no description has them."""
WITHIN = {"network": 0.1, "drives": 0.15, "storage": 0.15, "loaders": 0.5, "processors": 0.6}
"""Relative half-width of the interval of the largest number, by what limits it. Assumed: clients
have 0.4 to 1.6 times as much processing power."""
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
    """A system as a row describes it."""

    def __init__(self, row: Mapping[str, str]) -> None:
        super().__init__(row, DESCRIPTION)
        self.hosts = int(self.number("hosts") or 1)
        self.workload = self.row["workload"]
        self.sample = self.number("sample_bytes") or 0.0
        self.batch = int(self.number("batch_size_samples") or 1)
        self.computation = self.number("computation_time_s") or 0.0
        self.loaders = int(self.number("read_threads") or 1)
        self.required = (self.number("au_required_percent") or 90.0) / 100

    @property
    def demand(self) -> float:
        """Bytes a second of one accelerator that waits for nothing."""
        return self.batch * self.sample / self.computation

    def limits(self) -> dict[str, float]:
        """Return the bytes a second that each known part can give."""
        rates = {
            "network": self.product("client_nic_Gbit_per_s", "client_nics", "hosts"),
            "servers' network": self.product(
                "server_nic_Gbit_per_s", "server_nics", "storage_nodes"
            ),
        }
        found = {name: rate * PROTOCOL * 1e9 / 8 for name, rate in rates.items() if rate}
        drives = self.product("drive_read_MB_per_s", "drives_per_node", "storage_nodes")
        if drives is None:
            drives = self.product("drive_read_MB_per_s", "drives_per_node")
        for name, megabytes in (
            ("drives", drives),
            ("storage", self.number("stated_system_read_MB_per_s")),
        ):
            if megabytes:
                found[name] = megabytes * 1e6
        found["processors"] = self.hosts * CORES / TIME_PER_BYTE[self.workload]
        return found

    def limit(self) -> tuple[str, float]:
        """Return the part that gives least, and its rate."""
        return min(self.limits().items(), key=lambda pair: pair[1])

    def scenario(self, accelerators: int) -> str:
        """Return a training with these accelerators as a scenario: clients, one wire each, and
        one storage that gives the least of all known rates behind it."""
        each = max(1, round(accelerators / self.hosts))
        # What loaders read ahead is used up after twice as many steps.
        skipped = 2 * max(self.loaders, 10)
        steps = skipped + STEPS[self.workload]
        files = 2 * steps * self.batch * each * self.hosts
        samples = int(self.number("samples_per_file") or 1)
        limits = self.limits()
        wire = limits.get("network", MOST * 1e9 / 8 * self.hosts) / self.hosts
        behind = [rate for name, rate in limits.items() if name not in ("network", "processors")]
        storage = min(behind, default=MOST * 1e9)
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
computation = "{self.computation} s"
loaders = {self.loaders}
steps = {steps}
skipped_steps = {skipped}
time_per_byte = "{TIME_PER_BYTE[self.workload] * 1e9:.3f} ns"
"""

    def run(self, accelerators: int) -> tuple[float, float]:
        """Return utilisation and bytes a second of a simulation."""
        document = hr.run(hr.load(self.scenario(accelerators))).document
        (training,) = document["trainings"]
        utilisation = training["utilisation"] or 0.0
        return utilisation, utilisation * training["accelerators"] * self.demand


def predict(row: Mapping[str, str]) -> Prediction:
    """Predict one row."""
    system = System(row)
    stated = int(system.number("accelerators") or 1)
    utilisation, rate = system.run(stated)
    largest = _largest(system)
    name = _limited_by(system, largest)
    within = WITHIN["network" if "network" in name else name]
    low, high = largest * (1 - within), largest * (1 + within)
    return Prediction(
        id=system.row["id"],
        au_percent=round(100 * utilisation, 2),
        throughput_MB_per_s=round(rate / 1e6, 1),
        accelerators_largest=largest,
        accelerators_largest_interval=(max(1, math.floor(low)), math.ceil(high)),
        limited_by=name,
    )


def _limited_by(system: System, largest: int) -> str:
    name, rate = system.limit()
    # An accelerator waits for its own loaders, however few there are.
    own = system.loaders / TIME_PER_BYTE[system.workload]
    slow = own < system.required * system.demand
    return "loaders" if slow and largest * system.demand < 0.8 * rate else name


def _largest(system: System) -> int:
    """Return the largest number of accelerators, by host alike, that keeps the utilisation."""
    # No more than the processors can serve, which the scenario does not have.
    processors = system.limits()["processors"]
    _, rate = system.limit()
    by_rate = min(rate, processors) / (system.required * system.demand) / system.hosts
    best, low, high = 0, 1, max(1, math.ceil(1.1 * by_rate))
    at = max(1, math.floor(by_rate))
    # To one in fifty.
    while low <= high and (best == 0 or high - best > best / 50):
        passes = at * system.hosts * system.demand * system.required <= processors
        if passes and system.run(at * system.hosts)[0] >= system.required:
            best, low = at, at + 1
        else:
            high = at - 1
        at = (low + high) // 2
    return max(best, 1) * system.hosts


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the predictions of the rows of a file."""
    return print_predictions(
        __doc__.splitlines()[0], DESCRIPTION, lambda row: asdict(predict(row)), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
