"""Automata of linear temporal formulas."""

import shutil
import subprocess

from headrace._core import RunError

TRANSLATOR = "lbt"
HOW_TO_GET = "apt install lbt"
"""Debian and Ubuntu have it."""


def automaton(formula: str) -> str:
    """Return the Büchi automaton of a formula in prefix notation, both in the format of LBT.

    Raises:
        RunError: The translator is not installed, or it fails.
    """
    translator = shutil.which(TRANSLATOR)
    if translator is None:
        raise RunError(
            "formulas without path quantifiers, such as G(F(...)), are translated by the program"
            f" {TRANSLATOR}, which is not installed: {HOW_TO_GET}; formulas such as AG(AF(...))"
            " need no other program"
        )
    ended = subprocess.run([translator], input=formula, capture_output=True, text=True, check=False)
    if ended.returncode:
        reason = ended.stderr.strip() or f"exit status {ended.returncode}"
        raise RunError(f"{TRANSLATOR} fails with {formula!r}: {reason}")
    return ended.stdout
