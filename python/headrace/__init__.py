"""Headrace: a workbench for high-performance storage.

import headrace as hr

scenario = hr.load("scenarios/striped-read.toml", {"clients.count": 8})
result = hr.run(scenario)
print(result.bottleneck)
print(result.summary)
"""

from headrace.early_interruption import install as _end_at_interruption

_end_at_interruption()

from importlib import import_module  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

if TYPE_CHECKING:
    from headrace import design, measure, net, store, trace
    from headrace._core import VERSION as __version__
    from headrace._core import Job, RunError, ScenarioError, Scheduler, ServerState, TraceError
    from headrace.cli.python_calls import command
    from headrace.optimisation import optimise
    from headrace.simulate import (
        Placement,
        ReplacementPolicy,
        Result,
        Scenario,
        load,
        load_result,
        run,
    )
    from headrace.sweeps import sweep, whatif

__all__ = [
    "Job",
    "Placement",
    "ReplacementPolicy",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "ServerState",
    "TraceError",
    "__version__",
    "command",
    "design",
    "load",
    "load_result",
    "measure",
    "net",
    "optimise",
    "run",
    "store",
    "sweep",
    "trace",
    "whatif",
]

IN_CORE = {"__version__": "VERSION"} | {
    name: name
    for name in ("Job", "RunError", "ScenarioError", "Scheduler", "ServerState", "TraceError")
}

ELSEWHERE = {
    "command": "headrace.cli.python_calls",
    "optimise": "headrace.optimisation",
    "sweep": "headrace.sweeps",
    "whatif": "headrace.sweeps",
}
"""Modules of names that are not in `headrace.simulate`."""

MODULES = ("design", "measure", "net", "store", "trace")


def __getattr__(name: str) -> Any:
    # The command line must be ready for Ctrl-C at once, and tables take half a second to
    # import: only when they are first needed.
    if name in IN_CORE:
        from headrace import _core

        return getattr(_core, IN_CORE[name])
    if name in MODULES:
        # Not `from headrace import`, which asks here again.
        return import_module(f"headrace.{name}")
    if name in ELSEWHERE:
        return getattr(import_module(ELSEWHERE[name]), name)
    if name in __all__:
        from headrace import simulate

        return getattr(simulate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # Completion shows what is public.
    return sorted(__all__)
