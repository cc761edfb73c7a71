"""Searches of a design as jobs, and their solutions."""

from collections.abc import Mapping
from typing import Any

from headrace.design.evaluation import Solution
from headrace.design.solution_file import FILE as SOLUTION
from headrace.design.solution_file import SCENARIO, read_solution
from headrace.web.design.catalogues import OWN, catalogue_text
from headrace.web.design.sheet import FILE
from headrace.web.jobs import Job, JobQueue, JobRequest, RefusedRequest
from headrace.web.jobs.directory import JobDirectory
from headrace.web.settings import Settings

COMMAND = ("design", "solve")
FOLDER = "design"
"""Directory of the search within that of its job."""
REPORT_HTML = f"{FOLDER}/report.html"
REPORT_PDF = f"{FOLDER}/report.pdf"
CHOSEN = f"{FOLDER}/{SCENARIO}"
"""Scenario of the chosen design."""
CATALOGUE_FILE = "catalogue.toml"


def solve_request(
    settings: Settings, owner: str, draft: str, text: str, catalogue: str, values: Mapping[str, Any]
) -> JobRequest:
    """Return the request of a search.

    Parameters:
        settings: Settings of the server.
        owner: The user.
        draft: Name of the worksheet's draft.
        text: The worksheet as TOML.
        catalogue: Name of a catalogue, as `catalogue_names` gives it.
        values: Other parameters of `headrace design solve`.

    Raises:
        DraftError: There is no such catalogue.
    """
    inputs = {FILE: text}
    named = catalogue
    if catalogue.startswith(OWN):
        inputs[CATALOGUE_FILE] = catalogue_text(settings, owner, catalogue)
        named = f"input:{CATALOGUE_FILE}"
    return JobRequest(
        command=COMMAND,
        values={**values, "file": f"input:{FILE}", "catalogue": named},
        inputs=inputs,
        title=title_of(draft),
    )


def title_of(draft: str) -> str:
    """Return the title of the searches of a draft."""
    return f"design of {draft}"


def jobs_of(jobs: JobQueue, owner: str, draft: str) -> list[Job]:
    """Return the searches of a user's draft, the newest first."""
    return [
        job
        for job in jobs.jobs(owner=owner)
        if job.request.command == COMMAND and job.request.title == title_of(draft)
    ]


def solution_of(directory: JobDirectory) -> Solution | None:
    """Return the solution of a search; None if it left none.

    Raises:
        ValueError: The file is damaged.
    """
    try:
        return read_solution(directory.file(f"{FOLDER}/{SOLUTION}"))
    except (OSError, RefusedRequest):
        return None
