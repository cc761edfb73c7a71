"""Origin of the profile: machine, baseline and files."""

from headrace.environment import shown
from headrace.report.document.content import Block, Bullets, Facts, Section, foreign
from headrace.report.profile_report.data import ProfileData
from headrace.views.profile_values import timestamp

KEYS = {
    "host": "Host",
    "kernel": "Kernel",
    "directory": "Directory",
    "device": "Device",
    "device_model": "Model of the device",
    "device_kind": "Kind of the device",
    "device_bytes": "Size of the device",
}
"""Facts of the environment that are in no other section, and their names."""


def section(data: ProfileData) -> Section:
    """Return the origin, and the notes of the profile."""
    profile = data.profile
    environment = profile.get("environment") or {}
    rows = [
        ("Headrace", foreign(profile.get("version", "unknown"), 60)),
    ]
    if profile.get("id"):
        rows.append(("Identifier in the store", foreign(profile["id"], 60)))
    rows += [
        (name, foreign(shown(key, environment[key])))
        for key, name in KEYS.items()
        if environment.get(key) is not None
    ]
    baseline = profile.get("baseline") or {}
    if baseline:
        rows.append(("Baseline", foreign(baseline.get("id") or "without identifier", 60)))
        if baseline.get("started"):
            rows.append(("Baseline measured", timestamp(foreign(baseline["started"], 40))))
        changed = baseline.get("changed_since") or []
        if changed:
            rows.append(("Changed since the baseline", foreign("; ".join(map(str, changed)))))
    for key in ("samples", "trace"):
        if profile.get(key):
            rows.append((key.capitalize(), foreign(profile[key])))
    blocks: list[Block] = [Facts(rows)]
    notes = [foreign(note) for note in profile.get("notes") or []]
    if notes:
        blocks.append(Bullets(notes))
    return Section("provenance", "Origin", blocks)
