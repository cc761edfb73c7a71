"""Sources of scenarios for the page: examples, presets, results of the store."""

from typing import Any

import msgspec

from headrace.simulate.examples import example, scenario_of_presets
from headrace.store import StoreError, StoreFailure
from headrace.web.design.drafts import draft_name

EMPTY = """\
# A scenario in TOML. The form beside it offers all fields.
name = "my scenario"
"""


class WrongSource(ValueError):
    """There is no such scenario. The text is for the user."""


class Source(msgspec.Struct, frozen=True):
    """The names that lead to a scenario; without any it is a new one."""

    example: str = ""
    system: str = ""
    workload: str = ""
    result: str = ""
    job: str = ""
    file: str = ""
    """Name of a scenario among the files of `job`."""

    @property
    def exists(self) -> bool:
        """True if it names a scenario."""
        return bool(self.example or self.system or self.workload or self.result or self.job)

    @property
    def title(self) -> str:
        """Name for a draft of it."""
        names = (self.example, self.system, self.workload, self.result, self.file)
        return draft_name(" ".join(filter(None, names)), "scenario")


class Opened(msgspec.Struct, frozen=True):
    """A scenario."""

    text: str
    result: str = ""
    """Identifier of the result that it comes from."""


def open_source(source: Source) -> Opened:
    """Return the scenario that a source names. Raises WrongSource."""
    if source.example:
        sample = example(source.example)
        if sample is None:
            raise WrongSource(f"There is no example {source.example}.")
        return Opened(sample.text)
    if source.system or source.workload:
        try:
            return Opened(scenario_of_presets(source.system, source.workload))
        except ValueError as error:
            raise WrongSource(str(error)) from None
    if source.result:
        return _of_store(source.result)
    if source.job:
        return _of_job(source.job, source.file)
    return Opened(EMPTY)


def _of_job(identifier: str, name: str) -> Opened:
    from headrace.web.jobs import RefusedRequest
    from headrace.web.quick_run import LARGEST_TEXT
    from headrace.web.site import site

    missing = WrongSource(f"There is no scenario {name} of a job {identifier}.")
    if site().jobs.job(identifier) is None:
        raise missing
    try:
        path = site().jobs.directory(identifier).download(name)
        if path.stat().st_size > LARGEST_TEXT:
            raise WrongSource(f"{name} is too large for a scenario.")
        return Opened(path.read_text(encoding="utf-8"))
    except (RefusedRequest, OSError, UnicodeDecodeError):
        raise missing from None


def _of_store(identifier: str) -> Opened:
    from headrace.simulate.stored_results import stored_scenario

    try:
        text, _ = stored_scenario(f"results:{identifier}")
    except (StoreError, StoreFailure, OSError) as error:
        raise WrongSource(str(error)) from None
    return Opened(text, identifier)


def simulated_document(identifier: str) -> dict[str, Any] | None:
    """Return a simulated result of the store with its tables; None if it is none."""
    from headrace import ScenarioError
    from headrace.simulate.saved_results import load_result

    try:
        result = load_result(f"results:{identifier}")
    except (StoreError, StoreFailure, ScenarioError, OSError):
        # A measurement, or a sweep: it has a scenario, but its result is shown elsewhere.
        return None
    tables = {name: table.to_dict(as_series=False) for name, table in result.saved_tables.items()}
    return result.document | tables
