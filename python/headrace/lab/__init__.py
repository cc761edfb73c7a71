"""Testbeds on one machine: the hosts, links, disks and servers that a scenario describes."""

from headrace.lab.benchmark import bench_commands, exec_command
from headrace.lab.lifecycle import down, running_testbed, up
from headrace.lab.mpi_launch import run_ranks
from headrace.lab.plan import Plan
from headrace.lab.planner import plan
from headrace.lab.state import Lab, existing, find, name_of
from headrace.lab.status import status

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
    "run_ranks",
    "running_testbed",
    "status",
    "up",
]
