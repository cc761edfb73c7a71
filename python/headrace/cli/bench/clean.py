"""`headrace bench clean`."""

import json

from headrace.cli.options import AsJson
from headrace.commands.fields import BelowDirectory
from headrace.exit_codes import report_failure
from headrace.kinds import with_kind
from headrace.plain_text import plain_line

TO_BE_LEFT = ("it carries no mark of a benchmark", "its benchmark is still running")
"""The reasons of the engine for leaving a directory that are none of a failure
(crates/load/src/directory/clean.rs)."""


def clean(directory: BelowDirectory, as_json: AsJson = False) -> int:
    """Remove the directories that killed benchmarks left below DIR.

    Only directories that carry a benchmark's mark and whose benchmark is not running; the status
    is 1 if one of those could not be removed.
    """
    from headrace import measure

    removed, left = measure.clean(directory)
    if as_json:
        document = {
            "removed": [str(path) for path in removed],
            "left": [{"path": str(path), "reason": reason} for path, reason in left],
        }
        print(json.dumps(with_kind("bench-clean", document), indent=2))
    else:
        for path in removed:
            print(plain_line(f"removed {path}"))
        for path, reason in left:
            print(plain_line(f"left {path}: {reason}"))
        if not removed and not left:
            print("no leftover directories found")
    not_removed = [path for path, reason in left if reason not in TO_BE_LEFT]
    if not not_removed:
        return 0
    names = ", ".join(map(str, not_removed))
    return report_failure(f"could not be removed, although no benchmark uses it: {names}", 1)
