"""dd: one file, written or read in order."""

from __future__ import annotations

import re

from ground import MIB, SIZE, Case, Figures, Ground, forget, output, rate


def _dd(*words: str) -> float:
    said = output("dd", f"bs={MIB}", f"count={SIZE // MIB}", *words)
    found = re.search(r"(\d+) bytes .* copied, ([\d.e+-]+) s", said)
    if found is None:
        raise SystemExit(f"agreement: dd said {said!r}")
    return int(found[1]) / float(found[2])


def _new(ground: Ground) -> Figures:
    with ground.folder() as folder:
        return {"write": _dd("if=/dev/zero", f"of={folder}/file", "conv=fsync")}


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
                ground.anew(
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
    ),
    Case(
        "dd",
        "in order, 1 MiB, direct",
        {"read": "MB/s"},
        lambda ground: {
            "read": rate(
                ground.on_common('transfer = "1 MiB"\nphases = ["read"]\nio.direct = true\n'),
                "read",
            )
        },
        lambda ground: {"read": _dd(f"if={ground.common}", "of=/dev/null", "iflag=direct")},
    ),
]
