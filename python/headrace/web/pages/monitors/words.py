"""States as pages show them: an icon and a word, never a colour alone."""

from nicegui import ui

from headrace.monitors.service import HostStatus
from headrace.quantities import size
from headrace.web.times import local_time

ICONS = {
    "ok": "check_circle",
    "warning": "warning",
    "problem": "error",
    "unreached": "cloud_off",
    "waiting": "hourglass_empty",
}
CLASSES = {"ok": "hr-ok", "warning": "hr-warning", "problem": "hr-problem"}
STYLE = """
.hr-ok { color: #00684a; } .hr-warning { color: #8a4b00; } .hr-problem { color: #b3261e; }
.body--dark .hr-ok { color: #5fd0a8; } .body--dark .hr-warning { color: #ffb95c; }
.body--dark .hr-problem { color: #ff9d95; }
"""


def state_icon(state: str) -> ui.icon:
    """Draw the icon of a state; its word stands beside it."""
    icon = ui.icon(ICONS.get(state, "help"), size="sm").props('aria-hidden="true"')
    return icon.classes(CLASSES.get(state, ""))


def facts_text(host: HostStatus) -> str:
    """Return the facts of a host in a line."""
    facts = host.facts
    parts = []
    if facts.get("kernel"):
        parts.append(f"{facts['kernel']} {facts.get('machine', '')}".strip())
    if facts.get("processors"):
        parts.append(f"{facts['processors']} processors")
    if isinstance(memory := facts.get("memory_bytes"), int | float):
        parts.append(f"{size(memory)} of memory")
    if facts.get("version"):
        parts.append(f"Headrace {facts['version']}")
    if facts.get("interval_s"):
        parts.append(f"a sample every {facts['interval_s']:g} s")
    return ", ".join(parts)


def clock_text(host: HostStatus) -> str:
    """Return the offset of a host's clock; empty for this host."""
    if host.offset_uncertainty_s is None:
        return ""
    offset, uncertainty = 1e3 * host.offset_s, 1e3 * host.offset_uncertainty_s
    side = "ahead of" if offset >= 0 else "behind"
    return f"clock {abs(offset):,.0f} ms {side} this server's (± {uncertainty:,.0f} ms)"


def seen_text(host: HostStatus) -> str:
    """Return when the newest sample came."""
    if host.unreached_since is not None:
        return f"not reached since {local_time(host.unreached_since)}"
    if host.newest is None:
        return "no sample yet"
    return f"newest sample {local_time(host.newest)}"
