"""Hostile jobs, uploads and texts: the server lives, and says what is wrong."""

import gzip
import io
import os
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from web_site import RunningSite, opened, running_site

SCENARIO = Path(__file__).parents[2] / "scenarios" / "cifs.toml"
SCRIPT = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """A server with small limits."""
    options = ("--job-memory=700 MiB", "--job-time=8 s", "--jobs=4")
    sizes = ("--upload-size=2 MiB", "--upload-quota=5 MiB")
    with running_site(tmp_path_factory.mktemp("small"), *options, *sizes) as it:
        yield it


def put(site: RunningSite, name: str, content: bytes) -> httpx.Response:
    """Upload a file."""
    return site.put(f"/api/files/{name}", content=content)


def test_jobs_that_eat_time_and_memory_end(small: RunningSite) -> None:
    text = SCENARIO.read_text()
    endless = text.replace('time = "70 s"', 'time = "10000000 s"')
    large = text.replace("files = 2000", "files = 9000000").replace("count = 8", "count = 100000")
    assert endless != text != large
    jobs = [
        small.submit("run", inputs={"a.toml": it}, file="input:a.toml") for it in (endless, large)
    ]
    ended = [small.ended(it) for it in jobs]
    assert [it["state"] for it in ended] == ["failed", "failed"]
    assert "limit of 8 s" in ended[0]["message"]
    assert "memory" in ended[1]["message"].lower() or "limit of 8 s" in ended[1]["message"]
    assert small.get("/healthz").status_code == 200


def test_a_document_that_takes_long_to_read_is_read_by_its_job(small: RunningSite) -> None:
    """TOML is read in the square of a key's length."""
    key = "a." * 100_000 + "b = 1"
    job = small.ended(small.submit("run", inputs={"a.toml": key}, file="input:a.toml"))
    assert job["state"] == "failed"
    assert "internal error" not in job["message"], job["message"]
    assert small.get("/healthz").status_code == 200


def hostile_files() -> dict[str, bytes]:
    """Return traces and archives that no tool has written."""
    draw = random.Random(1)
    noise = draw.randbytes(100_000)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as it:
        it.writestr("../../../../tmp/evil", "x")
        it.writestr("manifest.json", b"0" * (200 << 20))
    names = b"".join(b"%x,%d,read,/%x,0,4096\n" % (at, at, at) for at in range(60_000))
    return {
        "noise.csv": noise,
        "empty.csv": b"",
        "zeros.bin": bytes(1 << 20),
        "bomb.csv.gz": gzip.compress(bytes(800 << 20), 9),
        "line.csv": b"a," * (1 << 19),
        "names.csv": b"process,time,operation,path,offset,size\n" + names,
        "strace.txt": b"1 1.0 read(3, " + b"\\x00" * 100_000 + b") = 1\n" + noise,
        "text.csv": (SCRIPT + "\x1b[31m\x00\u202e\n").encode() * 100,
        "archive.zip": archive.getvalue(),
        "nested.json": b'{"kind": ' + b"[" * 200_000,
        "darshan.darshan": b"\xd5\x32\x31\x2e\x30" + noise,
    }


def test_hostile_traces_and_archives_end_in_a_failed_job(small: RunningSite) -> None:
    jobs = {}
    for name, content in hostile_files().items():
        assert put(small, name, content).status_code == 201, name
        for command in (("trace", "info"), ("results", "import")):
            upload: object = f"upload:{name}"
            values = {"trace": upload} if command[0] == "trace" else {"files": [upload]}
            request = {"command": command, "values": values}
            answer = small.post("/api/jobs", json=request, timeout=120)
            if answer.status_code == 422:
                continue
            jobs[name, command[0]] = answer.json()["id"]
        small.delete(f"/api/files/{name}")
    for (name, verb), identifier in jobs.items():
        job = small.ended(identifier)
        assert job["state"] in ("failed", "done"), (name, verb)
        assert "internal error" not in job["message"], (name, job["message"])
        assert "Traceback" not in small.get(f"/jobs/{identifier}").text
    assert not Path("/tmp/evil").exists()
    assert small.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "name", ["..%2fx", "%2e%2e", ".hidden", "a%00b", "a%0ab", "-x", "%ff", "a" * 200, "a b", "é"]
)
def test_names_of_uploads_are_checked(small: RunningSite, name: str) -> None:
    assert put(small, name, b"x").status_code in (404, 405, 422)
    answer = small.post("/api/files", files={"file": (name.replace("%2f", "/"), b"x")})
    assert answer.status_code in (400, 422)
    assert small.get("/api/files").json() == []


def test_uploads_have_limits(small: RunningSite) -> None:
    assert put(small, "big", b"x" * (2 << 20)).status_code == 201
    assert put(small, "big", b"y").status_code == 409
    assert put(small, "bigger", b"x" * ((2 << 20) + 1)).status_code == 413
    assert put(small, "big2", b"x" * (2 << 20)).status_code == 201
    answer = put(small, "big3", b"x" * (2 << 20))
    assert (answer.status_code, "delete some" in answer.text) == (413, True)
    assert {it["name"] for it in small.get("/api/files").json()} == {"big", "big2"}
    assert not [it for it in os.listdir(small.data / "uploads/local") if it.startswith(".")]
    for name in ("big", "big2"):
        assert small.delete(f"/api/files/{name}").status_code == 204
    assert small.delete("/api/files/big").status_code == 404


def test_uploads_are_private(tmp_path: Path) -> None:
    from headrace.web.access.users import UserFile

    users = UserFile(tmp_path / "serve")
    ann = {"Authorization": f"Bearer {users.add('ann')}"}
    bob = {"Authorization": f"Bearer {users.add('bob')}"}
    with running_site(tmp_path, "--login") as it:
        it.put("/api/files/t.csv", content=b"?", headers=ann)
        assert it.get("/api/files", headers=bob).json() == []
        assert it.delete("/api/files/t.csv", headers=bob).status_code == 404
        for value, status in (("upload:ann/t.csv", 422), ("upload:t.csv", 422)):
            request = {"command": ["trace", "info"], "values": {"trace": value}}
            assert it.post("/api/jobs", json=request, headers=bob).status_code == status
        request["values"] = {"trace": "upload:t.csv"}
        answer = it.post("/api/jobs", json=request, headers=ann)
        assert answer.status_code == 201
        files = f"/api/jobs/{answer.json()['id']}/files"
        assert "t.csv" not in it.get(files, headers=bob).text
        assert it.get(f"{files}/uploads/t.csv", headers=bob).status_code == 404


def test_texts_of_users_are_no_code(small: RunningSite, browser: Browser) -> None:
    inputs = {"t.csv": SCRIPT}
    request = {
        "command": ["trace", "info"],
        "values": {"trace": "input:t.csv"},
        "inputs": inputs,
        "title": SCRIPT,
    }
    identifier = small.post("/api/jobs", json=request).json()["id"]
    small.ended(identifier)
    with opened(browser, small.url) as page:
        for path in ("/jobs", f"/jobs/{identifier}", f"/jobs/{SCRIPT}", f"/{SCRIPT}", "/"):
            page.goto(small.url + path)
            page.wait_for_load_state("networkidle")
            assert page.locator("img[src=x]").count() == 0, path
            assert page.title() != "owned", path
    for hostile in (SCRIPT, "a\r\nx-evil: 1", "\u202e", "\0", "x" * 100_000):
        request["title"] = hostile
        assert small.post("/api/jobs", json=request).status_code in (201, 422)
