"""A laboratory on one machine: the hosts, links, disks and servers that a scenario describes."""

from headrace.lab.benchmark import bench_commands, exec_command
from headrace.lab.making import down, up
from headrace.lab.meanwhile import stood_up
from headrace.lab.plan import Plan
from headrace.lab.planning import plan
from headrace.lab.state import Lab, existing, find, name_of
from headrace.lab.status import status
from headrace.lab.together import together

__all__ = [
    "Lab",
    "Plan",
    "bench_commands",
    "down",
    "exec_command",
    "existing",
    "find",
    "name_of",
    "plan",
    "status",
    "stood_up",
    "together",
    "up",
]
