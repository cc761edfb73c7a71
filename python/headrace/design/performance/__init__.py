"""Performance of a design: its scenario, simulated with the worksheet's applications."""

from headrace.design.performance.measurement import performance
from headrace.design.performance.simulation import (
    DesignScenario,
    Detail,
    Measured,
    Simulated,
    scenario,
)

__all__ = ["DesignScenario", "Detail", "Measured", "Simulated", "performance", "scenario"]
