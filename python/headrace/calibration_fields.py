"""Fields that the file of a calibrated machine gives, and a check for those that it lacks.

A parameter that was not measured has its default. The default assumes nothing about the machine, so
predictions are wrong by the effect of the parameter.
"""

import tomllib
from collections.abc import Mapping
from typing import Any

from headrace._core import Loaded

MACHINE = (
    *(f"machine.cpu.{it}" for it in ("system_call", "library_call", "discontiguous_call")),
    *(f"machine.cpu.{it}" for it in ("between_calls", "transfer", "page_fault")),
    *(f"machine.copying.{it}" for it in ("read_call", "page_in_l2", "write_share", "contention")),
    *(f"machine.copying.{it}" for it in ("l3_reach", "reuse_share")),
    *(f"machine.file_system.{it}" for it in ("write_call", "write_page")),
    *(f"machine.file_system.buffer_head{it}" for it in ("", "_in_l2", "_in_l3")),
    *(f"machine.file_system.{it}" for it in ("new_page", "uncached_page")),
    *(f"machine.file_system.{it}" for it in ("new_folio", "new_folio_order")),
    *(f"machine.file_system.{it}" for it in ("read_page", "flush_page")),
    *(f"machine.file_system.{it}" for it in ("create", "unlink", "lookup")),
    *(f"machine.device.{it}" for it in ("latency", "rate", "write_latency", "device_write_rate")),
    *(f"machine.device.{it}" for it in ("new_block", "fresh_page", "flush")),
)
"""Fields that `headrace calibrate` measures on every machine."""
SERVERS = (
    *(f"network.{it}" for it in ("latency", "bandwidth")),
    *(f"hosts.cpu.{it}" for it in ("send", "receive", "send_rate", "receive_rate")),
    *(f"hosts.cpu.{it}" for it in ("serve_read", "serve_write")),
)
"""Fields that `headrace calibrate` measures of servers and of the network to them."""
OF_SEVERAL_CORES = "machine.copying.contention"
"""Parameter that a machine with one core does not need."""

CONDITION = "not-calibrated"


def rounds_of(system: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the values of each calibration round, by field path, from a system's file. The values
    of one round belong together."""
    calibrated = system.get("calibration", ())
    every = zip(*(it["values"] for it in calibrated), strict=True)
    fields = [it["field"] for it in calibrated]
    return [dict(zip(fields, values, strict=True)) for values in every]


def missing_parameters(loaded: Loaded) -> list[dict[str, str]]:
    """Return a warning if a calibrated machine's file lacks parameters that this version measures;
    else an empty list. Parameters that the scenario sets are not missing."""
    system = tomllib.loads(loaded.toml)
    calibrated = {it["field"] for it in system.get("calibration", ())}
    if not calibrated:
        return []
    measured = MACHINE if any(it.startswith("machine.") for it in calibrated) else SERVERS
    values = {path: text for path, _, _, text in loaded.quantities()}
    single = values.get("machine.cpu.cores") == "1"
    lacks = [
        f"{field} ({values[field]})"
        for field in measured
        # Other kinds of devices have other fields.
        if field in values
        and field not in calibrated
        and not loaded.gives(field)
        and not (single and field == OF_SEVERAL_CORES)
    ]
    if not lacks:
        return []
    message = (
        "the machine's file lacks parameters that this version measures, and their defaults are"
        " used:"
        f" {', '.join(lacks)}: calibrate again"
    )
    return [{"condition": CONDITION, "message": message}]
