"""The machine that figures come from."""

import platform


def this_host() -> dict[str, str]:
    """Its processor's architecture and its operating system, as results have them."""
    return {"machine": platform.machine(), "system": platform.platform()}
