"""`headrace explain`."""

from headrace.cli.options import ScenarioFile, Sets


def explain(file: ScenarioFile, sets: Sets = None) -> None:
    """Print all values of a scenario with meaning and origin."""
    from headrace.simulate import load_with_sets

    print(load_with_sets(file, sets or []).explain(), end="")
