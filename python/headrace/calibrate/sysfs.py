"""Small files in which the kernel tells of itself."""

from pathlib import Path


def read_sysfs(path: Path) -> str | None:
    """What a small file of the kernel's says; None if it cannot be read."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return None
