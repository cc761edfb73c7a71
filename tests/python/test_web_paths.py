"""Files of the host that jobs may name: in parameters, and in scenarios and worksheets."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer

from command import command
from headrace.cli.app import app
from headrace.cli.serve import command_forms
from headrace.web.jobs.commands import RUNNABLE, WITHHELD
from headrace.web.jobs.forms import CommandForm, FormField
from web_scenarios import SHORT
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
    (("profile", "report"), "directory"),
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
    if field.name == "directory":
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


LONG = "/" + "./" * 2100 + "etc/passwd"
"""A name that is longer than PATH_MAX, and no file's in the working directory."""


@pytest.mark.parametrize(
    "text",
    [
        TRACE.format('"/etc/passwd"'),
        TRACE.format(f'"{LONG}"'),
        TRACE.format("'../../../etc/passwd'"),
        TRACE.format(ESCAPED),
        TRACE.format('"""/etc/passwd"""'),
        TRACE.format('"x/../../../t"'),
        TRACE.format('"order.json/../../x"'),
        TRACE.format('"/proc/self/environ"'),
        'workload = [{ kind = "trace", file = "/etc/passwd" }]',
        'system = "/etc/machine.toml"',
        'system = "../../users.toml"',
        '"sys\\u0074em" = "/etc/machine.toml"',
        "[servers.device]\nkind = 'empirical'\nread_times = '/etc/passwd'\nwrite_times = ['1 ms']",
        "[network]\nbandwidth = '/etc/passwd'",
        '[scheduler]\npython = "os:System"',
        '[scheduler]\n"pyth\\u006fn" = "os:System"',
        '[layout]\nkind = "python"\nclass = "a:B"',
        "[a\nb = 1",
        "a = " + "[" * 100_000,
        "{" * 1000,
    ],
)
def test_no_scenario_leads_elsewhere(place: Place, text: str) -> None:
    """Neither in a quick run, which says why, nor in a job."""
    answer = place.client.post("/api/scenarios/run", json={"toml": text})
    assert answer.status_code == 422
    assert "root:" not in answer.text
    refused(place, scenario(text))


@pytest.mark.parametrize(
    "setting",
    [
        "workload.0.file=/etc/passwd",
        f"workload.0.file={LONG}",
        f"workload.0.file={ESCAPED}",
        'workload=[{kind="trace",file="/etc/passwd"}]',
        "workload=[{kind='trace',file='../../x'}]",
        "system=/etc/machine.toml",
        "scheduler.python=os:System",
        '"scheduler"."pyth\\u006fn"=os:System',
        'scheduler={class="a:B"}',
    ],
)
def test_no_setting_leads_elsewhere(place: Place, setting: str) -> None:
    refused(place, scenario('name = "a"\n', sets=[setting]))


def test_no_swept_value_leads_elsewhere(place: Place) -> None:
    text = '[[workload]]\nkind = "trace"\nfile = "x"\n'
    for value in ("(/etc/passwd),1", "/etc/passwd,1", '["/etc/passwd"]'):
        sweep = scenario(text, vary=[f"workload.0.file={value}"])
        refused(place, sweep | {"command": ["sweep"]})
        refused(
            place,
            sweep
            | {"command": ["optimise"], "values": sweep["values"] | {"maximise": "throughput"}},
        )


def refused(place: Place, request: dict[str, Any]) -> str:
    """Return the log of a job that its own process refuses, and that has nothing of a file."""
    answer = place.client.post("/api/jobs", json=request)
    if answer.status_code == 422:
        return str(answer.json()["detail"]["message"])
    identifier = answer.json()["id"]
    place.jobs.add(identifier)
    job = place.site.ended(identifier)
    log = str(place.client.get(f"/api/jobs/{identifier}/log").text)
    assert job["state"] == "failed", log
    assert job["status"] in (1, 2), log
    assert "root:" not in log + str(job["document"]) and "Traceback" not in log
    return log


def test_files_lead_to_files_that_are_checked(place: Place) -> None:
    """An upload that names another, which names a file of the host."""
    for name, text in (("one.toml", "two.toml"), ("two.toml", "/etc/three.toml")):
        content = f'system = "{text}"\n'.encode()
        answer = place.site.post("/api/files", files={"file": (name, content)})
        assert answer.status_code == 201
    request = {"command": ["run"], "values": {"file": "upload:one.toml"}}
    assert "outside the directories" in refused(place, request)
    (place.work / "system.toml").write_text('system = "../serve/x.toml"\n')
    assert "outside the directories" in refused(
        place, scenario(f'system = "{place.work / "system.toml"}"\n')
    )
    # By a symbolic link within an allowed directory.
    (place.work / "trace.csv").symlink_to(place.data / "cookie.key")
    text = TRACE.format(f'"{place.work / "trace.csv"}"')
    assert "outside the directories" in refused(place, scenario(text))


def test_a_word_for_a_result_means_one_result(place: Place) -> None:
    """`last` may be another result when the job starts."""
    identifier = place.site.submit("run", file="input:a.toml", inputs={"a.toml": SHORT})
    place.jobs.add(identifier)
    result = place.site.stored(identifier)
    again = place.site.submit("run", file="results:last")
    place.jobs.add(again)
    order = json.loads((place.data / "jobs" / again / "order.json").read_text())
    assert order["command"][-1] == f"results:{result}"
    assert place.site.ended(again)["state"] == "done"


def test_a_job_writes_into_its_own_directory(place: Place) -> None:
    target = place.work / "kept.csv"
    target.write_text("mine")
    values = {"source": "input:t.csv", "target": str(target)}
    request = {"command": ["trace", "convert"], "values": values, "inputs": {"t.csv": "?"}}
    assert "output:NAME" in place.refused(request)
    assert target.read_text() == "mine"


def test_benchmarks_connect_with_stated_hosts_only(place: Place, tmp_path: Path) -> None:
    asked = {"command": ["bench", "net", "ask"], "values": {"address": "127.0.0.1:1", "token": "t"}}
    peer = {"command": ["baseline"], "values": {"directory": str(place.work), "peer": "x:1"}}
    for request in (asked, peer):
        assert "headrace serve --allow-peer" in place.refused(request)
    with running_site(tmp_path, "--allow-peer=127.0.0.1:1") as site:
        assert site.post("/api/jobs", json=asked).status_code == 201


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
    """A server that allows schedulers."""
    directory = tmp_path_factory.mktemp("lenient")
    with running_site(directory, "--allow-schedulers", XDG_CONFIG_HOME=str(directory)) as it:
        yield it


def test_a_python_scheduler_needs_leave(site: RunningSite, lenient: RunningSite) -> None:
    """With it the scheduler of the request runs, and only that."""
    text = Path(__file__).parents[2].joinpath("scenarios/cifs.toml").read_text()
    text = text.replace("[run]", '[scheduler]\npython = "mine:Fifo"\n\n[run]')
    code = "import headrace as hr\nopen('ran', 'w')\nclass Fifo(hr.Scheduler):\n    pass\n"
    inputs = {"a.toml": text, "mine.py": code}
    job = site.ended(site.submit("run", inputs=inputs, file="input:a.toml"))
    assert (job["state"], "--allow-schedulers" in job["message"]) == ("failed", True)
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


def test_the_data_directory_is_apart(tmp_path: Path) -> None:
    """The operator cannot allow a directory around it, or within it."""
    data = tmp_path / "serve"
    (data / "jobs").mkdir(parents=True)
    for directory in (tmp_path, data, data / "jobs"):
        answer = command("serve", f"--data-directory={data}", f"--allow-directory={directory}")
        assert answer.returncode == 2
        assert "apart from the data of the server" in answer.stderr
