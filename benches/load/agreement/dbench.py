"""dbench: its mix of operations, by one client that asks again at once.

It replays a list of operations, in its order and on its files; Headrace draws operations of the
same frequencies and sizes (the preset dbench). What cannot be the same is not: the two do the
same kinds of things, not the same things.
"""

from __future__ import annotations

import re

from ground import Case, Figures, Ground, output

SECONDS = 10


def _theirs(ground: Ground) -> Figures:
    with ground.folder() as folder:
        said = output("dbench", "-t", str(SECONDS), "-D", folder, "1")
    # Operation, count, mean and longest time in milliseconds.
    rows = re.findall(r"^ (\w+) +(\d+) +([\d.]+) +[\d.]+$", said, re.M)
    if not rows:
        raise SystemExit(f"agreement: dbench: unexpected output {said!r}")
    count = sum(int(row[1]) for row in rows)
    return {"operations": count / SECONDS}


def _ours(ground: Ground) -> Figures:
    done = ground.on_own_files(
        'preset = "dbench"\nappend_limit = "1 MB"\namount = "forever"\n'
        f'[run]\nstop = {{ time = "{SECONDS} s" }}\n'
    )
    count = sum(it["count"] for it in done)
    seconds = max(it["to_s"] for it in done) - min(it["from_s"] for it in done)
    return {"operations": count / seconds}


CASES = [Case("dbench", "one client", {"operations": "1/s"}, _ours, _theirs)]
