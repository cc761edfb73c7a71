"""dd: one file, written or read in order."""

from __future__ import annotations

import re

from ground import LARGE_DIRECT, MIB, SIZE, Case, Figures, Ground, forget, output, rate


def _dd(*words: str, block: int = MIB) -> float:
    """Return bytes per second."""
    return SIZE / _seconds(*words, block=block)


def _seconds(*words: str, block: int = MIB) -> float:
    said = output("dd", f"bs={block}", f"count={SIZE // block}", *words)
    found = re.search(r" copied, ([\d.e+-]+) s", said)
    if found is None:
        raise SystemExit(f"agreement: dd: unexpected output {said!r}")
    return float(found[1])


def _new(ground: Ground) -> Figures:
    """Subtract the time that dd takes to read zeros, which Headrace does not."""
    zeros = _seconds("if=/dev/zero", "of=/dev/null")
    with ground.folder() as folder:
        written = _seconds("if=/dev/zero", f"of={folder}/file", "conv=fsync")
    return {"write": SIZE / (written - zeros)}


def _cold(ground: Ground) -> Figures:
    forget(ground.common)
    return {"read": _dd(f"if={ground.common}", "of=/dev/null")}


CASES = [
    Case(
        "dd",
        "a new file, 1 MiB, fsync",
        {"write": "MB/s"},
        lambda ground: {
            "write": rate(
                ground.on_own_files(
                    f'block = "{SIZE} B"\ntransfer = "1 MiB"\nphases = ["write", "sync"]\n'
                ),
                "write",
            )
        },
        _new,
    ),
    Case(
        "dd",
        "in order, 1 MiB, cold",
        {"read": "MB/s"},
        lambda ground: {
            "read": rate(ground.on_common('transfer = "1 MiB"\nphases = ["read"]\n'), "read")
        },
        _cold,
        cold=True,
    ),
    Case(
        "dd",
        "in order, 64 KiB, direct",
        {"read": "MB/s"},
        lambda ground: {
            "read": rate(
                ground.on_common(
                    f'transfer = "{LARGE_DIRECT} B"\nphases = ["read"]\nio.direct = true\n'
                ),
                "read",
            )
        },
        lambda ground: {
            "read": _dd(f"if={ground.common}", "of=/dev/null", "iflag=direct", block=LARGE_DIRECT)
        },
    ),
]
