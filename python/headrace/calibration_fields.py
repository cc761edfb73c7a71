"""Fields that every calibrated machine file has; files of earlier versions lack some of them.

A missing parameter takes its default, which has no cost. Predictions then miss that cost, so a
warning names the field.
"""

import re
from collections.abc import Mapping
from typing import Any

from headrace._core import Loaded

MACHINE = (
    *(f"machine.cpu.{name}" for name in ("system_call", "library_call", "discontiguous_call")),
    *(f"machine.cpu.{name}" for name in ("transfer", "page_fault")),
    *(f"machine.copying.{name}" for name in ("page_in_l2", "write_share")),
    *(f"machine.copying.{name}" for name in ("l3_reach", "reuse_share")),
    *(f"machine.file_system.{name}" for name in ("write_call", "write_page", "buffer_head")),
    *(f"machine.file_system.{name}" for name in ("new_page", "uncached_page", "new_folio")),
    *(f"machine.file_system.{name}" for name in ("read_page", "flush_page")),
    *(f"machine.file_system.{name}" for name in ("create", "unlink", "lookup")),
    *(f"machine.device.{it}" for it in ("latency", "rate", "write_latency", "device_write_rate")),
    *(f"machine.device.{it}" for it in ("hypervisor.new_block", "hypervisor.fresh_page", "flush")),
)
"""Fields that `headrace calibrate` measures on every machine, whatever its caches and limits."""
SERVERS = (
    *(f"network.{name}" for name in ("latency", "bandwidth")),
    *(f"hosts.cpu.{name}" for name in ("send", "receive", "send_rate", "receive_rate")),
    *(f"hosts.cpu.{name}" for name in ("serve_read", "serve_write")),
)
"""Fields that `headrace calibrate --server` measures."""

CONDITION = "not-calibrated"
CALIBRATED_FIELD = re.compile(r'^\[\[calibration\]\]\nfield = "([^"]*)"$', re.MULTILINE)
"""A field of a calibration in a complete scenario, whose text has one form. Reading all of it as
TOML takes longer than many a simulation, and calibrations run a thousand."""


def rounds_of(system: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the calibrated values of each round by field, from a system's file. One round
    describes the machine at one time, so its values belong together."""
    calibrated = system.get("calibration", ())
    every = zip(*(entry["values"] for entry in calibrated), strict=True)
    fields = [entry["field"] for entry in calibrated]
    return [dict(zip(fields, values, strict=True)) for values in every]


def missing_parameters(loaded: Loaded) -> list[dict[str, str]]:
    """Return a warning if a calibrated machine file lacks fields that this version measures.

    A value that the scenario sets is not missing.

    Parameters
    ----------
    loaded
        The scenario with its system.
    """
    calibrated = set(CALIBRATED_FIELD.findall(loaded.toml))
    if not calibrated:
        return []
    measured = MACHINE if any(field.startswith("machine.") for field in calibrated) else SERVERS
    values = {path: text for path, _, _, text in loaded.quantities()}
    lacks = [
        f"{field} ({values[field]})"
        for field in measured
        # Other kinds of devices have other fields.
        if field in values and field not in calibrated and not loaded.gives(field)
    ]
    if not lacks:
        return []
    message = (
        "the machine file lacks parameters that this version measures; their defaults apply:"
        f" {', '.join(lacks)}: run headrace calibrate again"
    )
    return [{"condition": CONDITION, "message": message}]
