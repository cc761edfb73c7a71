"""The machine that figures come from."""

import platform


def this_host() -> dict[str, str]:
    """Return the processor architecture and the operating system, as results have them."""
    return {"machine": platform.machine(), "system": platform.platform()}
