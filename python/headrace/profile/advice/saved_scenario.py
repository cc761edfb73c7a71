"""The scenario of an advice, saved beside its profile with the trace that it replays."""

from pathlib import Path

from headrace.document_io import toml_value
from headrace.files import atomic_file, make_directory
from headrace.profile.paced_trace import write_paced
from headrace.profile.prediction import Case, Outcome

FOLDER = "advice"
"""Folder in the profile directory."""


def remove_scenarios(directory: Path) -> None:
    """Remove the saved scenarios of a profile that is evaluated again."""
    for pattern in ("phase-*.csv", "phase-*.toml"):
        for path in (directory / FOLDER).glob(pattern):
            path.unlink()


def save_scenario(outcome: Outcome, case: Case, directory: Path, name: str) -> tuple[str, str]:
    """Save the trace of a case as NAME.csv, and its scenario as NAME.toml.

    The prediction simulated a temporary trace. The saved scenario names the saved trace, which lies
    beside it, so that `headrace run` and `whatif` accept it.

    Args:
        outcome: The outcome of the simulated case, with its scenario.
        case: The case.
        directory: Folder of both files; it is made.
        name: Their name.

    Returns:
        The text of the scenario, and the name of its file.

    Raises:
        OSError: if a file cannot be written.
    """
    assert outcome.scenario is not None and outcome.trace is not None
    make_directory(directory)
    trace, scenario = directory / f"{name}.csv", directory / f"{name}.toml"
    with atomic_file(trace) as partial:
        write_paced(case.records, partial)
    text = outcome.scenario.replace(toml_value(str(outcome.trace)), toml_value(trace.name))
    with atomic_file(scenario) as partial:
        partial.write_text(text, encoding="utf-8")
    return text, scenario.name
