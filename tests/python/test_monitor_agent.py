"""The agent: over HTTP, with and without tokens, and installed over ssh."""

import contextlib
import getpass
import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import free_port
from headrace.monitors.agent import read_token
from headrace.monitors.agents import (
    AgentClient,
    AgentFailure,
    AgentFile,
    checked_url,
    make_agent,
    parse_option,
)
from headrace.monitors.host_sampler import HostSampler

PACKAGE = Path(__file__).parents[2] / "python"
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


@contextlib.contextmanager
def running_agent(*options: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Run the agent as an agent host does, and return its URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "headrace.monitors.agent", "--port=0", "--interval=0.1", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        assert line, process.stderr.read() if process.stderr else ""
        yield line.strip().rstrip("/"), process
    finally:
        process.terminate()
        process.wait(30)


def lines(url: str, after: int, **options: Any) -> list[Any]:
    answer = httpx.get(f"{url}/samples?after={after}", **options)
    assert answer.status_code == 200, answer.text
    return [json.loads(it) for it in answer.text.splitlines()]


def wait_for(url: str, count: int, **options: Any) -> list[Any]:
    while len(found := lines(url, 0, **options)) < count:
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def agent() -> Iterator[str]:
    with running_agent() as (url, _):
        yield url


def test_samples_are_numbered_and_follow_each_other(agent: str) -> None:
    found = wait_for(agent, 5)
    numbers = [it[0] for it in found]
    assert numbers == list(range(1, len(found) + 1))
    assert all(a[1] < b[1] for a, b in pairwise(found))
    for before, (_, end, seconds, figures) in pairwise(found):
        # Each begins where the one before it ended.
        assert end - seconds == pytest.approx(before[1], abs=0.05)
        assert 0 <= figures["cpu.user"] <= 1
        assert figures["memory.total_bytes"] > figures["memory.available_bytes"] > 0
    assert [it[0] for it in lines(agent, numbers[2])][: len(numbers) - 3] == numbers[3:]
    assert lines(agent, 10**9) == []


def test_facts_of_the_host(agent: str) -> None:
    answer = httpx.get(f"{agent}/host")
    facts = answer.json()
    assert facts["name"] == socket.gethostname()
    assert facts["processors"] == os.cpu_count()
    assert facts["interval_s"] == 0.1
    assert abs(float(answer.headers["X-Headrace-Now"]) - time.time()) < 5
    assert answer.headers["X-Headrace-Instance"]


@pytest.mark.parametrize(
    ("path", "status"), [("/", 404), ("/samples?after=x", 422), ("/../etc/passwd", 404)]
)
def test_wrong_paths(agent: str, path: str, status: int) -> None:
    assert httpx.get(agent + path).status_code == status
    assert httpx.post(agent + "/samples").status_code == 501


def test_another_name_of_the_loopback_address_is_refused(agent: str) -> None:
    answer = httpx.get(f"{agent}/samples", headers={"Host": "evil.example:80"})
    assert answer.status_code == 403
    assert httpx.get(agent.replace("127.0.0.1", "localhost") + "/host").status_code == 200


def test_a_client_that_says_nothing_does_not_hold_up_others(agent: str) -> None:
    host, port = agent.removeprefix("http://").split(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(10)]
    assert lines(agent, 0) is not None
    for it in silent:
        it.close()


def test_tokens(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with running_agent(f"--token-file={path}") as (url, _):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        token = path.read_text().strip()
        assert len(token) > 40
        assert httpx.get(f"{url}/samples").status_code == 401
        for wrong in ("x", "wrong", token[:-1], token + "x", "ü" * 20):
            headers = {b"Authorization": f"Bearer {wrong}".encode()}
            answer = httpx.get(f"{url}/host", headers=headers)
            assert (answer.status_code, "memory" in answer.text) == (401, False)
        right = {"Authorization": f"Bearer {token}"}
        # The Host header does not matter to those who have the token.
        answer = httpx.get(f"{url}/host", headers=right | {"Host": "node1:8181"})
        assert answer.status_code == 200
        client = AgentClient(make_agent("here", url, path))
        assert client.facts()["name"] == socket.gethostname()
        path.write_text("another token of the same file\n".replace(" ", "-"))
        with pytest.raises(AgentFailure, match="the token is wrong"):
            client.facts()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--address=0.0.0.0"], "needs --token-file"),
        (["--interval=0.01"], "expected 0.1 to 60 s"),
        (["--interval=61"], "expected 0.1 to 60 s"),
        (["--address=192.0.2.1", "--token-file=TOKEN"], "192.0.2.1:0: "),
        (["--token-file=OPEN"], "other users may read the token: chmod 600"),
        (["--token-file=SHORT"], "expected a token of 16 characters"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, options: list[str], message: str) -> None:
    (tmp_path / "OPEN").write_text("x" * 40)
    (tmp_path / "OPEN").chmod(0o644)
    (tmp_path / "SHORT").write_text("x")
    (tmp_path / "SHORT").chmod(0o600)
    done = subprocess.run(
        [sys.executable, "-m", "headrace", "agent", "--port=0", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    text = done.stderr.strip()
    assert done.returncode in (1, 2)
    assert "Traceback" not in text
    if "interval" in options[0]:
        # The command line takes times with units.
        assert "interval" in text
    else:
        assert message in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_without_a_word(number: int) -> None:
    with running_agent() as (url, process):
        wait_for(url, 1)
        process.send_signal(number)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_the_agent_needs_only_the_standard_library() -> None:
    code = "import sys; import headrace.monitors.agent; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {it.partition(".")[0] for it in done.stdout.split()}
    foreign = loaded - sys.stdlib_module_names - {"headrace", "__main__"}
    # What the start of this Python itself loads is not the agent's.
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert foreign <= {it.partition(".")[0] for it in bare.stdout.split()}
    assert "headrace._core" not in done.stdout.split()


def test_the_buffer_is_bounded() -> None:
    sampler = HostSampler(60.0)
    for _ in range(70):
        assert sampler.take() is not None
    found = sampler.after(0, 1000)
    # An hour of samples.
    assert [it.number for it in found] == list(range(11, 71))
    assert [it.number for it in sampler.after(20, 3)] == [21, 22, 23]
    with pytest.raises(ValueError, match=r"expected 0\.1 to 60 s"):
        HostSampler(0.05)


@pytest.mark.parametrize(
    "answer",
    [
        b"not json\n",
        b'{"number": 1}\n',
        b'[1, 2.0, 1.0, {"x": "y"}]\n',
        b'[1, 2.0, 1.0, {"' + b"x" * 300 + b'": 1.0}]\n',
        b"[1, 2.0, 1.0, {" + b", ".join(b'"%d": 1.0' % it for it in range(600)) + b"}]\n",
        b"[" * 100_000,
    ],
)
def test_answers_of_a_stranger_are_refused(answer: bytes) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    head = b"HTTP/1.0 200 OK\r\nX-Headrace-Now: 1.0\r\nX-Headrace-Instance: a\r\n\r\n"
    child = os.fork()
    if child == 0:
        connection, _ = listening.accept()
        connection.recv(4096)
        connection.sendall(head + answer)
        connection.close()
        os._exit(0)
    try:
        client = AgentClient(
            make_agent("x", f"http://127.0.0.1:{listening.getsockname()[1]}", None)
        )
        with pytest.raises(AgentFailure):
            client.samples(0)
    finally:
        os.waitpid(child, 0)
        listening.close()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://",
        "node1:8181",
        "http://user:secret@node1",
        "http://node1/path",
        "http://node1:99999",
        "http://no de1",
        "http://node1?x=1",
    ],
)
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(ValueError, match="expected a URL such as http://node1:8181"):
        checked_url(url)


def test_agents_of_a_server(tmp_path: Path) -> None:
    file = AgentFile(tmp_path)
    assert file.entries() == ()
    file.add("node1", "http://node1:8181/", "t" * 40)
    file.add("node2", "https://[fe80::1]:8181", "")
    first, second = file.entries()
    assert (first.name, first.url) == ("node1", "http://node1:8181")
    assert first.token_file is not None
    assert stat.S_IMODE(first.token_file.stat().st_mode) == 0o600
    assert read_token(first.token_file) == "t" * 40
    assert "tttt" not in file.path.read_text()
    assert (second.url, second.token_file) == ("https://[fe80::1]:8181", None)
    for name, url, token, message in (
        ("node1", "http://a", "", "already"),
        ("../x", "http://a", "", "expected a name"),
        ("b", "http://a", "short", "token: expected 16"),
        ("b", "http://a", "x" * 20 + "\n" + "x", "token: expected 16"),
    ):
        with pytest.raises(ValueError, match=message):
            file.add(name, url, token)
    file.remove("node1")
    assert not first.token_file.exists()
    assert [it.name for it in file.entries()] == ["node2"]
    with pytest.raises(ValueError, match="no agent node1"):
        file.remove("node1")
    file.path.write_text("[agents.x]\nurl = 3")
    with pytest.raises(ValueError, match=r"agents\.toml: expected agents"):
        file.entries()


def test_agents_of_options(tmp_path: Path) -> None:
    token = tmp_path / "token=1"
    token.write_text("x" * 40)
    found = parse_option(f"http://node1:8181={token}", set())
    assert (found.name, found.url, found.token_file) == ("node1", "http://node1:8181", token)
    assert parse_option("http://localhost:9", {"localhost"}).name == "localhost-9"
    with pytest.raises(ValueError, match="expected URL=TOKENFILE"):
        parse_option("http://node1:8181", set())
    with pytest.raises(ValueError, match="there is no file"):
        parse_option("http://node1:8181=/missing", set())


# --- Installing ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python part of a wheel: the agent needs no more."""
    path = tmp_path_factory.mktemp("wheel") / "headrace-0.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for it in sorted((PACKAGE / "headrace").rglob("*.py")):
            file.write(it, it.relative_to(PACKAGE))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home of host"
    path.mkdir()
    return path


@pytest.fixture
def shell(tmp_path: Path, home: Path) -> str:
    """An ssh that gives its words to a shell here, as sshd does, with another home directory."""
    script = tmp_path / "fake-ssh"
    script.write_text(
        textwrap.dedent(
            f"""\
            #!/bin/sh
            shift
            exec env -u XDG_RUNTIME_DIR -u DBUS_SESSION_BUS_ADDRESS HOME='{home}' sh -c "$*"
            """
        )
    )
    script.chmod(0o755)
    return str(script)


def command(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "headrace", "agent", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=180,
    )


def answers(port: int, token: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/host", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def check_life(ssh: str, host: str, home: Path, wheel: Path, cwd: Path) -> None:
    """Install twice, fail once, remove twice."""
    port, directory = free_port(), home / ".headrace-agent"
    options = [f"--ssh={ssh}", f"--wheel={wheel}", f"--port={port}", "--address=127.0.0.1"]
    options.append(f"--python={sys.executable}")
    done = command("install", host, *options, cwd=cwd)
    assert done.returncode == 0, done.stderr
    name = host.rpartition("@")[2]
    assert done.stdout.splitlines()[-1] == (
        f"headrace serve --agent http://{name}:{port}={name}.token"
    )
    token_file = cwd / f"{name}.token"
    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    token = token_file.read_text().strip()
    assert answers(port, token)
    assert not answers(port, "wrong")
    assert stat.S_IMODE((directory / "token").stat().st_mode) == 0o600
    first = (directory / "agent.pid").read_text()
    # Nobody on the host can read the token from a list of processes.
    words = Path(f"/proc/{first}/cmdline").read_bytes()
    assert token.encode() not in words and b"--token-file=" in words

    done = command("install", host, *options, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert answers(port, token)
    assert not Path(f"/proc/{first}").exists()
    assert sorted(it.name for it in home.glob(".headrace*")) == [".headrace-agent"]

    # What cannot start leaves the present one in its place, running.
    broken = cwd / "headrace-broken.whl"
    with zipfile.ZipFile(broken, "w") as file:
        file.writestr("headrace/__init__.py", "")
        file.writestr("headrace/monitors/__init__.py", "")
        file.writestr("headrace/monitors/agent.py", "raise SystemExit('headrace agent: broken')")
    others = [it for it in options if not it.startswith("--wheel")]
    done = command("install", host, *others, f"--wheel={broken}", cwd=cwd)
    assert done.returncode != 0
    assert "the agent does not answer: headrace agent: broken" in done.stderr
    assert "Traceback" not in done.stderr
    while not answers(port, token):
        time.sleep(0.1)
    assert sorted(it.name for it in home.glob(".headrace*")) == [".headrace-agent"]

    for said in ("removed", "no agent was there"):
        done = command("remove", host, f"--ssh={ssh}", cwd=cwd)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
        assert not answers(port, token)
        assert list(home.glob(".headrace*")) == []


def test_install_and_remove_by_a_shell(shell: str, home: Path, wheel: Path, tmp_path: Path) -> None:
    check_life(f"'{shell}'", "node1", home, wheel, tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["install", "-oProxyCommand=x"], "No such option"),
        (["install", "", "--wheel=W"], "expected a host such as root@node1"),
        (["install", "node1", "--wheel=missing.whl"], "missing.whl"),
        (["install", "node1", "--wheel=W", "--ssh=/missing/ssh"], "no such program"),
        (["install", "node1", "--wheel=W", "--ssh=false"], "ssh ended with status 1"),
        (["install", "node1", "--wheel=W", "--ssh=SHELL", "--python=/missing/python"], "127"),
        (["install", "node1", "--wheel=W", "--ssh=SHELL"], "not a zip file"),
        (["install", "node1", "--wheel=W", "--ssh=SHELL", "--directory=USED"], "not the directory"),
        (["remove", "node1", "--ssh=SHELL", "--directory=USED"], "not the directory of an agent"),
    ],
)
def test_errors_of_installing(
    words: list[str], message: str, shell: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "W").write_text("no wheel")
    used = tmp_path / "used"
    used.mkdir()
    (used / "precious").write_text("data")
    given = [it.replace("SHELL", f"'{shell}'").replace("USED", str(used)) for it in words]
    if "--python" not in " ".join(given) and given[0] == "install":
        given.append(f"--python={sys.executable}")
    done = command(*given, cwd=tmp_path)
    assert done.returncode != 0
    assert message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert (used / "precious").read_text() == "data"
    assert list(home.iterdir()) == [] or not (home / ".headrace-agent").exists()


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[str]:
    """An sshd of the test's own on a loopback port, with keys of its own; the ssh command."""
    if SSHD is None or shutil.which("ssh") is None:
        pytest.skip("no sshd to install an agent over: apt install openssh-server")
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)], check=True
        )
    (keys / "authorized").write_text((keys / "user.pub").read_text())
    port = free_port()
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": keys / "host",
        "AuthorizedKeysFile": keys / "authorized",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "SetEnv": f"HOME={tmp_path}/sshd-home",
    }
    (keys / "config").write_text("".join(f"{key} {it}\n" for key, it in settings.items()))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    server = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(keys / "config")], stderr=subprocess.PIPE
    )
    try:
        while True:
            assert server.poll() is None, server.stderr.read() if server.stderr else ""
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            time.sleep(0.05)
        yield (
            f"ssh -F none -p {port} -i {keys / 'user'} -o BatchMode=yes -o IdentitiesOnly=yes"
            f" -o StrictHostKeyChecking=no -o UserKnownHostsFile={keys / 'known'}"
        )
    finally:
        server.terminate()
        server.wait(30)


def test_install_and_remove_over_ssh(sshd: str, wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "sshd-home"
    home.mkdir()
    check_life(sshd, f"{getpass.getuser()}@127.0.0.1", home, wheel, tmp_path)
