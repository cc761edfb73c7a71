"""`headrace explain`, `schema` and `presets`."""

import json

from headrace import _core
from headrace.cli.options import AsJson
from headrace.commands.fields import ScenarioFile, Sets


def explain(file: ScenarioFile, sets: Sets = ()) -> None:
    """Print all values of a scenario with meaning and origin."""
    from headrace.simulate import load_with_sets

    print(load_with_sets(file, sets).explain(), end="")


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    print(json.dumps(json.loads(_core.schema()), indent=2))


def presets(as_json: AsJson = False) -> None:
    """List the systems and workloads that scenarios can name."""
    from headrace.cli.screen import show_line

    known = {"system": _core.presets(), "[[workload]] preset": _core.workloads()}
    if as_json:
        print(json.dumps({"systems": dict(_core.presets()), "workloads": dict(_core.workloads())}))
        return
    width = max(len(name) for names in known.values() for name, _ in names)
    for field, names in known.items():
        print(f"{field} =")
        for name, description in names:
            show_line(f"  {name:{width}}  {description}", indent=width + 4)
