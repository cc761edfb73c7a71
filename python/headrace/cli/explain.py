"""`headrace explain`."""

from headrace.cli.options import ScenarioFile, Sets


def explain(file: ScenarioFile, sets: Sets = None) -> None:
    """Print the full scenario with the meaning and the origin of each value."""
    from headrace.simulate import load_with_sets

    print(load_with_sets(file, sets or []).explain(), end="")
