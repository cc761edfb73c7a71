"""The documentation of advice has every change."""

import re
from pathlib import Path

from headrace.profile.advice import CHANGES

DOCS = Path(__file__).parents[2] / "docs" / "explanation" / "advice.md"


def test_the_documentation_lists_the_changes() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\w+) \| ([a-z, -]+) \| .* \| (.*) \|$", DOCS.read_text(), re.MULTILINE
    )
    documented = {
        name: (level, set(verdicts.split(", ")), source) for name, level, verdicts, source in rows
    }
    assert documented == {it.name: (it.level, set(it.verdicts), it.source) for it in CHANGES}
