"""Files of the host that jobs may name: in parameters, and in scenarios and worksheets."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer

from headrace.cli.app import app
from headrace.cli.serve import command_forms
from headrace.web.jobs.commands import RUNNABLE, WITHHELD
from headrace.web.jobs.forms import CommandForm, FormField
from web_site import RunningSite, running_site

FORMS = {it.command: it for it in command_forms(typer.main.get_command(app))}
NAMES_FILES = {
    (("bench", "quick"), "paths"),
    (("bench", "mix"), "workload"),
    (("bench", "tune"), "target"),
    (("optimise",), "catalogue"),
    (("optimise",), "price_file"),
    (("design", "solve"), "catalogue"),
    (("baseline",), "machine"),
    (("baseline",), "saved"),
    (("profile", "record"), "cgroup"),
    (("profile", "record"), "again"),
    (("trace", "convert"), "target"),
    (("results", "import"), "files"),
    (("run",), "file"),
}
"""Some parameters that must be among those that are tried."""


def file_fields(form: CommandForm) -> Iterator[FormField]:
    """Yield the parameters of a command that may name a file."""
    for field in form.fields:
        words = set(re.findall("[A-Z]+", field.metavar)) if "=" not in field.metavar else set()
        is_file = field.kind == "path" or words & {"FILE", "DIR", "TRACE", "RESULT", "MIX", "PATH"}
        if is_file and field.name not in WITHHELD:
            yield field


CASES = [(it.command, field.name) for it in RUNNABLE for field in file_fields(FORMS[it.command])]


class Place:
    """A server with files that no job may read."""

    def __init__(self, site: RunningSite, directory: Path) -> None:
        self.site, self.work, self.data = site, directory / "work", site.data
        # It takes long to make one for each request.
        self.client = httpx.Client(base_url=site.url, timeout=60, verify=False)
        (self.work / "out").symlink_to("/etc")
        (self.work / "link.toml").symlink_to("/etc/passwd")
        (self.work / "up").symlink_to("..")
        bob = self.data / "uploads" / "bob"
        bob.mkdir(parents=True)
        (bob / "secret.toml").write_text('name = "secret"\n')
        mine = self.data / "uploads" / "local"
        mine.mkdir()
        (mine / "link.toml").symlink_to("/etc/passwd")
        self.job = site.submit("trace", "info", inputs={"t.csv": "?"}, trace="input:t.csv")
        site.ended(self.job)
        self.jobs = {it.name for it in (self.data / "jobs").iterdir()}

    def hostile(self) -> list[str]:
        """Return values that lead where no job may read or write."""
        return [
            "/etc/passwd",
            "/etc",
            "/",
            "../../../../../../etc/passwd",
            "job.json",
            "order.json",
            "a.toml",
            f"{self.work}/../../etc/passwd",
            f"{self.work}/../serve/users.json",
            f"{self.work}/out/passwd",
            f"{self.work}/out",
            f"{self.work}/link.toml",
            f"{self.work}/up/serve/cookie.key",
            f"{self.work}x",
            str(self.data / "cookie.key"),
            str(self.data / "jobs" / self.job / "t.csv"),
            "/proc/self/environ",
            "/dev/zero",
            "~root/.ssh/id_rsa",
            "file:///etc/passwd",
            "input:../../x.toml",
            "input:/etc/passwd",
            "input:missing.toml",
            "input:job.json",
            "input:",
            "upload:bob/secret.toml",
            "upload:../bob/secret.toml",
            "upload:local/../bob/secret.toml",
            "upload:link.toml",
            "upload:missing.toml",
            "upload:/etc/passwd",
            "upload:",
            f"job:{self.job}/job.json",
            f"job:{self.job}/order.json",
            f"job:{self.job}/process.json",
            f"job:{self.job}/uploads/x",
            f"job:{self.job}/../{self.job}/order.json",
            f"job:{self.job}/./order.json",
            f"job:{self.job}//etc/passwd",
            f"job:{self.job}/missing",
            f"job:{self.job}",
            "job:../../cookie.key",
            "job:../users.json",
            "output:../x",
            "output:job.json",
            "output:a.toml",
            "results:../../x",
            "results:x/../y",
            "a\0b",
            "a\nb",
            "/" + "a/" * 5000,
            "x" * 300 + ".toml",
        ]

    def refused(self, request: dict[str, Any]) -> str:
        """Return the message of a request that must be refused, and leave nothing behind."""
        answer = self.client.post("/api/jobs", json=request)
        assert answer.status_code == 422, (request["values"], answer.text[:300])
        assert {it.name for it in (self.data / "jobs").iterdir()} == self.jobs
        detail: str = answer.json()["detail"]["message"]
        return detail


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server that also lets users run programs, so that those commands are tried."""
    directory = tmp_path_factory.mktemp("paths")
    with running_site(directory, "--allow-programs") as it:
        yield Place(it, directory)


def good(place: Place, command: tuple[str, ...], field: FormField) -> Any:
    """Return a value that a parameter may have."""
    if field.name == "directory" and command != ("profile", "report"):
        return str(place.work)
    if (command, field.name) == (("trace", "convert"), "target"):
        return "output:x.csv"
    return "input:a.toml" if field.kind == "path" else "1"


def test_all_that_names_a_file_is_tried() -> None:
    assert set(CASES) >= NAMES_FILES


@pytest.mark.parametrize(("command", "name"), CASES)
def test_no_parameter_leads_elsewhere(place: Place, command: tuple[str, ...], name: str) -> None:
    form = FORMS[command]
    values: dict[str, Any] = {
        it.name: good(place, command, it)
        for it in form.fields
        if it.required and it.name not in WITHHELD and it.name != name
    }
    field = form.field(name)
    assert field is not None
    # Each kind of value for every parameter, and all values for some.
    every = (command, name) in (
        (("run",), "file"),
        (("bench", "mix"), "workload"),
        (("bench", "disk"), "directory"),
        (("trace", "convert"), "target"),
    )
    for hostile in place.hostile()[:: 1 if every else 4]:
        given = [hostile] if field.repeated else hostile
        detail = place.refused(
            {
                "command": command,
                "values": values | {name: given},
                "inputs": {"a.toml": 'name = "a"\n'},
            }
        )
        # It is this parameter that is refused, and nothing of the file is in the message.
        assert name in detail or detail.startswith(("results:", "there is no")), (hostile, detail)
        assert "root:" not in detail and "secret" not in detail.replace("secret.toml", "")


def scenario(text: str, **values: Any) -> dict[str, Any]:
    """Return a request to run a scenario."""
    return {
        "command": ["run"],
        "values": {"file": "input:a.toml", **values},
        "inputs": {"a.toml": text},
    }


TRACE = '[[workload]]\nkind = "trace"\nfile = {}\n'
ESCAPED = '"\\u002fetc/passwd"'


@pytest.mark.parametrize(
    "text",
    [
        TRACE.format('"/etc/passwd"'),
        TRACE.format("'../../../etc/passwd'"),
        TRACE.format(ESCAPED),
        TRACE.format('"""/etc/passwd"""'),
        TRACE.format('"x/../../../t"'),
        TRACE.format('"order.json/../../x"'),
        TRACE.format('"/proc/self/environ"'),
        'workload = [{ kind = "trace", path = "/etc/passwd" }]',
        'workload = [{ trace = "/etc/passwd" }]',
        'system = "/etc/machine.toml"',
        'system = "../../users.toml"',
        '"sys\\u0074em" = "/etc/machine.toml"',
        "[network]\nbandwidth = '/etc/passwd'",
        '[scheduler]\npython = "os:System"',
        '[scheduler]\nkind = "python"\nclass = "a:B"',
        'scheduler = { class = "a:B", folder = "/tmp" }',
        "[a\nb = 1",
        "a = " + "[" * 100_000,
        '{"scenario": {"toml": "system = \\"/etc/x.toml\\""}}',
        '{"scenario": {"toml": "= ="}}',
        "{" * 1000,
    ],
)
def test_no_scenario_leads_elsewhere(place: Place, text: str) -> None:
    detail = place.refused(scenario(text))
    assert "root:" not in detail


@pytest.mark.parametrize(
    "setting",
    [
        "workload.0.file=/etc/passwd",
        "workload.0.file='/etc/passwd'",
        f"workload.0.file={ESCAPED}",
        'workload=[{kind="trace",file="/etc/passwd"}]',
        "workload=[{kind='trace',file='../../x'}]",
        "system=/etc/machine.toml",
        'system="../x.toml"',
        " system = ../x.toml",
        '"system"=\\u002fx',
        "scheduler.python=os:System",
        "scheduler.kind=python",
        'scheduler={class="a:B"}',
    ],
)
def test_no_setting_leads_elsewhere(place: Place, setting: str) -> None:
    text = 'name = "a"\n'
    place.refused(scenario(text, sets=[setting]))
    path, _, value = setting.partition("=")
    sweep = scenario(text, vary=[f"{path}={value},1"])
    place.refused(sweep | {"command": ["sweep"]})
    place.refused(sweep | {"command": ["optimise"]})


def test_files_lead_to_files_that_are_checked(place: Place) -> None:
    """An upload that names another, which names a file of the host."""
    for name, text in (("one.toml", "two.toml"), ("two.toml", "three.toml")):
        content = f'system = "{text}"\n'.encode()
        answer = place.site.post("/api/files", files={"file": (name, content)})
        assert answer.status_code == 201
    third = b'[clients]\nbandwidth = "/etc/passwd"\n'
    place.site.post("/api/files", files={"file": ("three.toml", third)})
    request = {"command": ["run"], "values": {"file": "upload:one.toml"}}
    assert "three.toml names '/etc/passwd'" in place.refused(request)
    (place.work / "system.toml").write_text('system = "../serve/x.toml"\n')
    assert "system.toml names" in place.refused(
        scenario(f'system = "{place.work / "system.toml"}"\n')
    )


def test_what_is_allowed_works(place: Place) -> None:
    """A scenario with an upload beside it, a path below an allowed directory, and an output."""
    site = place.site
    csv = b"process,time,operation,path,offset,size\n"
    machine = b'system = "nfs"\n'
    workload = b'system = "machine.toml"\n[clients]\ncount = 1\n'
    for name, content in (("machine.toml", machine), ("work.toml", workload), ("t.csv", csv)):
        assert site.post("/api/files", files={"file": (name, content)}).status_code == 201
    answer = site.post(
        "/api/jobs", json={"command": ["run"], "values": {"file": "upload:work.toml"}}
    )
    assert answer.status_code == 201, answer.text
    identifier = answer.json()["id"]
    place.jobs.add(identifier)
    site.ended(identifier)
    order = json.loads((place.data / "jobs" / identifier / "order.json").read_text())
    linked = place.data / "jobs" / identifier / "uploads"
    assert str(linked / "work.toml") in order["command"]
    # A job keeps what it was ordered with.
    (place.data / "uploads" / "local" / "machine.toml").unlink()
    assert (linked / "machine.toml").read_bytes() == machine
    (place.work / "b.toml").write_text('name = "b"\n')
    for value in (f"{place.work}/b.toml", f"{place.work}/../work/b.toml"):
        identifier = site.submit("run", file=value)
        place.jobs.add(identifier)
        order = json.loads((place.data / "jobs" / identifier / "order.json").read_text())
        assert order["command"][-1] == str(place.work / "b.toml")
    identifier = site.submit(
        "trace", "convert", inputs={"t.csv": "?"}, source="input:t.csv", target="output:u.csv"
    )
    place.jobs.add(identifier)


@pytest.fixture(scope="module")
def lenient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """A server that allows schedulers, and a directory around its own data."""
    directory = tmp_path_factory.mktemp("lenient")
    options = ("--allow-schedulers", f"--directory={directory}")
    with running_site(directory, *options, XDG_CONFIG_HOME=str(directory)) as it:
        yield it


def test_a_python_scheduler_needs_leave(site: RunningSite, lenient: RunningSite) -> None:
    """With it the scheduler of the request runs, and only that."""
    text = Path(__file__).parents[2].joinpath("scenarios/cifs.toml").read_text()
    text = text.replace("[run]", '[scheduler]\npython = "mine:Fifo"\n\n[run]')
    code = "import headrace as hr\nopen('ran', 'w')\nclass Fifo(hr.Scheduler):\n    pass\n"
    inputs = {"a.toml": text, "mine.py": code}
    request = {"command": ["run"], "values": {"file": "input:a.toml"}, "inputs": inputs}
    answer = site.post("/api/jobs", json=request)
    assert answer.status_code == 422
    assert "--allow-schedulers" in answer.json()["detail"]["message"]
    identifier = lenient.submit("run", inputs=inputs, file="input:a.toml")
    lenient.ended(identifier)
    assert (lenient.data / "jobs" / identifier / "ran").exists()


def test_programs_need_leave(site: RunningSite) -> None:
    work = str(site.data.parent / "work")
    record = {"command": ["profile", "record"], "values": {"command": ["touch", "/x"]}}
    tune = {
        "command": ["bench", "tune"],
        "values": {"directory": work, "profiler": "command:touch /tmp/x"},
    }
    for request in (record, tune):
        answer = site.post("/api/jobs", json=request)
        assert answer.status_code == 422
        assert "--allow-programs" in answer.json()["detail"]["message"]
    tune["values"] = {"directory": work, "profiler": "gluster:a;b"}
    assert site.post("/api/jobs", json=tune).status_code == 422


def test_the_data_directory_is_nobodys(lenient: RunningSite) -> None:
    """Also if the operator allows a directory around it."""
    for name in ("cookie.key", "", "jobs"):
        request = {"command": ["bench", "disk"], "values": {"directory": str(lenient.data / name)}}
        assert lenient.post("/api/jobs", json=request).status_code == 422
