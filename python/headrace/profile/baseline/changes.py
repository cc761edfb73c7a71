"""Comparison of the environments of a baseline and of the present."""

import math
from collections.abc import Mapping
from typing import Any

from headrace.environment import shown

COMPARED = (
    *("host", "kernel", "processor", "processors", "memory_bytes"),
    *("file_system", "mount_point", "mount_source", "mount_options"),
    *("device", "device_model", "device_kind", "device_bytes"),
)
"""Keys whose change makes a baseline out of date. The directory itself may differ."""
MEMORY_TOLERANCE = 0.01
"""Relative change of memory that does not count: a kernel reserves more or less of it."""


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each key of two environments that differs.

    A key that only one of them has counts as changed for the device, and is not compared else.
    """
    changes = []
    for key in COMPARED:
        old, new = before.get(key), now.get(key)
        if old == new or (key != "device" and None in (old, new)):
            continue
        if key == "memory_bytes" and math.isclose(old or 0, new or 0, rel_tol=MEMORY_TOLERANCE):
            continue
        was, is_now = (("none" if value is None else shown(key, value)) for value in (old, new))
        changes.append(f"{key.removesuffix('_bytes').replace('_', ' ')} was {was}, is {is_now}")
    return changes


def is_same_mount(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether two environments have the same mount point."""
    return "mount_point" in now and before.get("mount_point") == now["mount_point"]


def is_same_source(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether two environments have the same device or server at their mount points."""
    # Sources such as "tmpfs" name no file system.
    source = now.get("mount_source", "")
    return ("/" in source or ":" in source) and before.get("mount_source") == source
