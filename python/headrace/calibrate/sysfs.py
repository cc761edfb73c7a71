"""Read attribute files of sysfs and procfs."""

from pathlib import Path


def read_sysfs(path: Path) -> str | None:
    """Return the text of an attribute file, stripped; None if it cannot be read."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return None
