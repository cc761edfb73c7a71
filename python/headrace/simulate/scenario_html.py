"""A scenario as HTML for a notebook: what it sets, and everything else on a click."""

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from headrace.render.blocks import Note, Table
from headrace.render.html import as_html
from headrace.simulate.scenario import Scenario

SECTION = re.compile(r"^\[+([^\]]+)\]+$")
FIELD = re.compile(r"^(?P<key>[\w.-]+) = (?P<value>.*?)  # (?P<origin>.*)$")
NOT_SET = ("default:", "not given:")
"""Origins of values that the scenario leaves as they are."""
HEADING = ("name", "description")


class Field(NamedTuple):
    """A field of an explained scenario."""

    path: str
    value: str
    """As TOML."""
    meaning: str
    origin: str


def scenario_html(scenario: Scenario) -> str:
    """Return the fields that a scenario or its preset sets, and the complete scenario."""
    explained = scenario.explain()
    every = list(explained_fields(explained))
    rows = [
        (field.path, field.value, field.meaning)
        for field in every
        if field.path not in HEADING and not field.origin.startswith(NOT_SET)
    ]
    description = next((entry.value for entry in every if entry.path == "description"), '""')[1:-1]
    about = f": {description}" if description else ""
    heading = Note(f"{about}\n{scenario.summary}", scenario.name)
    table = Table.of_rows("", ("field", "value", "meaning"), rows, 3)
    whole = f"<pre>{escape(explained)}</pre>"
    return (
        f"{as_html([heading, table])}"
        f"<details><summary>all fields, with defaults</summary>{whole}</details>"
    )


def explained_fields(text: str) -> Iterator[Field]:
    """Yield the fields of the text of `Scenario.explain`."""
    section, meaning = "", ""
    for line in text.splitlines():
        if match := SECTION.match(line):
            section, meaning = f"{match[1]}.", ""
        elif line.startswith("# "):
            meaning = line[2:]
        elif match := FIELD.match(line):
            # The first sentence says what the field is.
            short = re.split(r"(?<=[.;:])\s", meaning, maxsplit=1)[0].rstrip(".;:")
            yield Field(f"{section}{match['key']}", match["value"], short, match["origin"])
            meaning = ""
