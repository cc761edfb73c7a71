"""Headrace: a workbench for high-performance storage.

import headrace as hr

scenario = hr.load("scenarios/striped-read.toml", {"clients.count": 8})
result = hr.run(scenario)
print(result.bottleneck)
print(result.summary)
"""

from typing import TYPE_CHECKING, Any

from headrace._core import VERSION as __version__
from headrace._core import RunError, ScenarioError, TraceError

if TYPE_CHECKING:
    from headrace.simulate import Result, Scenario, load, load_result, run, sweep

__all__ = [
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "TraceError",
    "__version__",
    "load",
    "load_result",
    "run",
    "sweep",
]


def __getattr__(name: str) -> Any:
    # Tables take half a second to import: only when they are first needed.
    if name in __all__:
        from headrace import simulate

        return getattr(simulate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
