"""Command lines of IOR, mdtest and dd, and configuration files of IO500, as workloads.

A table in TOML for each program has its options: their arguments, what they set, and why an option
has no effect or is refused. Parser, messages and docs/reference/ior-mdtest.md follow from it.
"""

from headrace.command_lines.command import Command, command_of, read_command
from headrace.command_lines.options import Option, Table, table

__all__ = ["Command", "Option", "Table", "command_of", "read_command", "table"]
