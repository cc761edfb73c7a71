"""`headrace presets`."""

from headrace import _core
from headrace.cli.screen import show_line


def presets() -> None:
    """List the systems and workloads that scenarios can name."""
    known = {"system": _core.presets(), "[[workload]] preset": _core.workloads()}
    width = max(len(name) for names in known.values() for name, _ in names)
    for field, names in known.items():
        print(f"{field} =")
        for name, description in names:
            show_line(f"  {name:{width}}  {description}", indent=width + 4)
