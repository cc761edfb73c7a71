"""The table of privileges, tried whole on a real server: each role, object and action."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import httpx
import pytest

from conftest import ROOT
from headrace.web.access.permissions import PRIVILEGES, Action, Kind, NotAllowed, Role, require
from headrace.web.access.users import User, UserFile
from web_scenarios import SHORT
from web_site import RunningSite, running_site

TRACE = {"command": ["trace", "info"], "values": {"trace": "input:t"}, "inputs": {"t": "?"}}


class Team(NamedTuple):
    """A server with a user of each role; the objects belong to `owner`."""

    site: RunningSite
    tokens: dict[str, str]

    def request(self, user: str, method: str, path: str, **options: object) -> httpx.Response:
        """Send a request of a user; of nobody for an empty name."""
        token = self.tokens.get(user)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.site.request(method, f"/api{path}", headers=headers, **options)  # type: ignore[arg-type]

    def job(self) -> str:
        """Return a job of the owner that has ended."""
        identifier = str(self.request("owner", "POST", "/jobs", json=TRACE).json()["id"])
        self.ended(identifier)
        return identifier

    def ended(self, identifier: str) -> dict[str, object]:
        """Wait for a job."""
        while True:
            job: dict[str, object] = self.request("owner", "GET", f"/jobs/{identifier}").json()
            if job["state"] not in ("waiting", "running"):
                return job
            time.sleep(0.1)

    def result(self) -> str:
        """Return a new result of the owner."""
        request = {
            "command": ["run"],
            "values": {"file": "input:a.toml"},
            "inputs": {"a.toml": SHORT},
        }
        identifier = self.request("owner", "POST", "/jobs", json=request).json()["id"]
        assert self.ended(identifier)["state"] == "done"
        while (found := self.ended(identifier)["result"]) is None:
            time.sleep(0.1)
        return str(found)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    directory = tmp_path_factory.mktemp("privileges")
    users = UserFile(directory / "serve")
    tokens = {it: users.add(it, operator=it == "operator") for it in ("owner", "user", "operator")}
    with running_site(directory, "--login", "--no-monitor") as site:
        yield Team(site, tokens)


def read_upload(team: Team, user: str) -> httpx.Response:
    team.request("owner", "PUT", "/files/t", content=b"?")
    values = {"trace": "upload:owner/t"}
    return team.request(user, "POST", "/jobs", json=TRACE | {"values": values})


def remove_upload(team: Team, user: str) -> httpx.Response:
    team.request("owner", "PUT", "/files/gone", content=b"?")
    return team.request(user, "DELETE", "/files/gone")


def worksheet(team: Team) -> str:
    path = "/design/drafts/sheet"
    team.request("owner", "PUT", path, json={"toml": "x = 1"})
    return path


def change_worksheet(team: Team, user: str) -> httpx.Response:
    path = worksheet(team)
    return team.request(user, "PUT", path, json={"toml": "x = 2", "before": "x = 1"})


def agent(team: Team) -> dict[str, str]:
    team.request("operator", "DELETE", "/monitors/agents/gone")
    return {"url": "http://127.0.0.1:9", "name": "gone", "token": "t" * 32}


def remove_agent(team: Team, user: str) -> httpx.Response:
    team.request("operator", "POST", "/monitors/agents", json=agent(team))
    return team.request(user, "DELETE", "/monitors/agents/gone")


TRIES: dict[tuple[Kind, Action], Callable[[Team, str], httpx.Response]] = {
    (Kind.JOB, Action.READ): lambda team, user: team.request(user, "GET", f"/jobs/{team.job()}"),
    (Kind.JOB, Action.CREATE): lambda team, user: team.request(user, "POST", "/jobs", json=TRACE),
    (Kind.JOB, Action.CHANGE): lambda team, user: team.request(
        user, "POST", f"/jobs/{team.job()}/cancel"
    ),
    (Kind.JOB, Action.REMOVE): lambda team, user: team.request(
        user, "DELETE", f"/jobs/{team.job()}"
    ),
    (Kind.RESULT, Action.READ): lambda team, user: team.request(
        user, "GET", f"/results/{team.result()}"
    ),
    (Kind.RESULT, Action.CREATE): lambda team, user: team.request(
        user,
        "POST",
        "/jobs",
        json={
            "command": ["results", "import"],
            "values": {"files": ["input:r"]},
            "inputs": {"r": "{}"},
        },
    ),
    (Kind.RESULT, Action.CHANGE): lambda team, user: team.request(
        user, "PATCH", f"/results/{team.result()}/labels", json={"disks": "new"}
    ),
    (Kind.RESULT, Action.REMOVE): lambda team, user: team.request(
        user, "DELETE", f"/results/{team.result()}"
    ),
    (Kind.UPLOAD, Action.READ): read_upload,
    (Kind.UPLOAD, Action.CREATE): lambda team, user: team.request(
        user, "PUT", "/files/new", content=b"?"
    ),
    (Kind.UPLOAD, Action.REMOVE): remove_upload,
    (Kind.WORKSHEET, Action.READ): lambda team, user: team.request(user, "GET", worksheet(team)),
    (Kind.WORKSHEET, Action.CREATE): lambda team, user: team.request(
        user, "PUT", "/design/drafts/new", json={"toml": ""}
    ),
    (Kind.WORKSHEET, Action.CHANGE): change_worksheet,
    (Kind.WORKSHEET, Action.REMOVE): lambda team, user: team.request(
        user, "DELETE", worksheet(team)
    ),
    (Kind.RULES, Action.READ): lambda team, user: team.request(user, "GET", "/monitors/rules"),
    (Kind.RULES, Action.CHANGE): lambda team, user: team.request(
        user, "PUT", "/monitors/rules", json={"own": ""}
    ),
    (Kind.AGENT, Action.READ): lambda team, user: team.request(user, "GET", "/monitors/hosts"),
    (Kind.AGENT, Action.CREATE): lambda team, user: team.request(
        user, "POST", "/monitors/agents", json=agent(team)
    ),
    (Kind.AGENT, Action.REMOVE): remove_agent,
}
USERS = {Role.USER: "user", Role.OWNER: "owner", Role.OPERATOR: "operator"}
REFUSED = {401, 403, 404, 422}


def test_all_privileges_are_tried() -> None:
    assert TRIES.keys() == PRIVILEGES.keys()


@pytest.mark.parametrize(("kind", "action"), PRIVILEGES)
def test_a_privilege(team: Team, kind: Kind, action: Action) -> None:
    attempt = TRIES[kind, action]
    assert attempt(team, "nobody").status_code == 401
    for role, user in USERS.items():
        answer = attempt(team, user)
        if role in PRIVILEGES[kind, action]:
            assert answer.status_code < 300, (role, answer.text)
        else:
            assert answer.status_code in REFUSED, (role, answer.text)


def test_labels_of_the_server_cannot_be_forged(team: Team) -> None:
    result = team.result()
    for user in ("owner", "operator"):
        for change in ({"owner": "user"}, {"job": "x"}, {"owner": None}):
            answer = team.request(user, "PATCH", f"/results/{result}/labels", json=change)
            assert answer.status_code == 403, answer.text
    shown = team.request("user", "GET", f"/results/{result}").json()
    assert shown["labels"]["owner"] == "owner"


def test_imported_results_belong_to_their_importer(team: Team) -> None:
    """Whatever the labels in the archive are."""
    result = team.result()
    archive = team.request("user", "GET", f"/results/export?ids={result}").content
    team.request("owner", "DELETE", f"/results/{result}")
    team.request("user", "PUT", "/files/r.zip", content=archive)
    request = {"command": ["results", "import"], "values": {"files": ["upload:r.zip"]}}
    job = team.request("user", "POST", "/jobs", json=request).json()["id"]
    assert team.ended(job)["state"] == "done"
    labels = team.request("user", "GET", f"/results/{result}").json()["labels"]
    assert (labels["owner"], labels["job"]) == ("user", job)
    assert team.request("owner", "DELETE", f"/results/{result}").status_code == 403


def test_a_recording_of_another_is_not_evaluated_anew(team: Team) -> None:
    job = team.job()
    values = {"again": f"job:{job}/document.json"}
    request = {"command": ["profile", "record"], "values": values}
    answer = team.request("user", "POST", "/jobs", json=request)
    assert answer.status_code == 422
    assert "a job of your own" in answer.json()["detail"]["message"]


def test_a_report_is_not_written_into_a_profile_of_another(team: Team) -> None:
    values = {"directory": f"job:{team.job()}/document.json"}
    request = {"command": ["profile", "report"], "values": values}
    answer = team.request("user", "POST", "/jobs", json=request)
    assert answer.status_code == 422
    assert "a job of your own" in answer.json()["detail"]["message"]


def test_a_refusal_names_the_roles() -> None:
    with pytest.raises(NotAllowed, match="only its owner or an operator may remove the job of ann"):
        require(User("bob"), Action.REMOVE, Kind.JOB, "ann")


def test_the_documented_table_is_the_one_in_force() -> None:
    page = (ROOT / "docs/how-to/serve-a-team.md").read_text(encoding="utf-8")
    lines = [
        "| object | action | " + " | ".join(Role) + " |",
        "| --- | --- |" + " --- |" * len(Role),
    ]
    for (kind, action), roles in PRIVILEGES.items():
        cells = " | ".join("yes" if role in roles else "no" for role in Role)
        lines.append(f"| {kind} | {action} | {cells} |")
    assert "\n".join(lines) + "\n" in page
