"""A simulated machine whose parameters are known, and what measurements of it take."""

from pathlib import Path

from headrace.calibrate.estimators.calls import BUFFER
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe
from headrace.calibrate.run_report import simulated

KNOWN = """
system = "ext4"
[machine]
memory = { size = "8 GiB", largest_folio = "1 MiB" }
[machine.cpu]
cores = 4
system_call = "300 ns"
library_call = "5 ns"
discontiguous_call = "250 ns"
transfer = "12 us"
page_fault = "600 ns"
[machine.copying]
l2 = "2 MiB"
l2_share = 0.125
l3 = "32 MiB"
l3_share = 0.125
page_in_l2 = "200 ns"
page_in_l3 = "300 ns"
page_in_memory = "500 ns"
l3_reach = "10 MiB"
reuse_share = 0.4
[machine.file_system]
write_call = "400 ns"
write_page = "100 ns"
buffer_head = "150 ns"
new_page = "700 ns"
uncached_page = "450 ns"
new_folio = "1500 ns"
flush_page = "500 ns"
read_page = "3 us"
create = "12 us"
unlink = "7 us"
lookup = "1 us"
[machine.device]
kind = "throttled"
rate = "2 GB/s"
latency = "60 us"
device_write_rate = "1 GB/s"
write_latency = "90 us"
time_per_transfer = "20 us"
write_time_per_transfer = "30 us"
hypervisor = { new_block = "3 us", fresh_page = "5 us" }
flush = "800 us"
"""

BALANCED = {"new_block": 3e-6, "fresh_page": 5e-6, "flush": 800e-6, "read_page": 3e-6}


READ = [
    Parameter("machine.cpu.cores", (4,), "", ""),
    Parameter("machine.copying.l2", (2 << 20,), "B", ""),
    Parameter("machine.copying.l3", (32 << 20,), "B", ""),
    Parameter("machine.memory.largest_folio", (1 << 20,), "B", ""),
]
"""The processor and folios, as the kernel tells them."""


def probed(probe: Probe, machine: Path) -> float:
    """What a probe takes on a simulated machine, where reading the clock takes no time."""
    if probe.made_by == "null":
        return 0.0
    # A simulation tells of the library's bufferfuls, a measurement of each call.
    calls = BUFFER if "library" in probe.workload else 1
    return probe.seconds(simulated(f'system = "{machine}"\n{probe.text}')) / calls
