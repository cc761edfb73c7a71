"""Processes that open only stated files, with a real kernel."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from headrace.confined import Confinement, confine

HERE = Path(__file__).parent
SCRIPT = """
import json, sys
from collections.abc import Mapping
from pathlib import Path
outcome = {}
for name in sys.argv[1:]:
    kind, _, path = name.partition(":")
    try:
        if kind == "read":
            outcome[name] = Path(path).read_text()[:4]
        elif kind == "list":
            outcome[name] = "listed" if list(Path(path).iterdir()) is not None else ""
        else:
            Path(path).write_text("x")
            outcome[name] = "written"
    except PermissionError:
        outcome[name] = "denied"
print(json.dumps(outcome))
"""


SCENARIO = """kind = "local"
clients.count = 1
[machine.device]
read_rate = "60 MB/s"
write_rate = "60 MB/s"
[[workload]]
kind = "trace"
file = "{}"
"""


def confined(directory: Path, confinement: Mapping[str, object], *names: str) -> dict[str, str]:
    """Return the outcomes of reads and writes in a confined process."""
    module = directory / "tries.py"
    module.write_text(SCRIPT)
    words = [sys.executable, "-m", "headrace.confined", json.dumps(confinement), "tries", *names]
    environment = os.environ | {"PYTHONPATH": str(directory)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    outcomes: dict[str, str] = json.loads(done.stdout)
    return outcomes


def has_landlock() -> bool:
    """Return whether the kernel confines, tried in a process of its own."""
    code = "from headrace._core import confine; raise SystemExit(not confine([], []))"
    return subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture(scope="module", autouse=True)
def landlock() -> None:
    if not has_landlock():
        pytest.skip("the kernel has no Landlock (CONFIG_SECURITY_LANDLOCK)")


def test_only_stated_files_are_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    for name in ("readable", "writable"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("text")
    (tmp_path / "readable" / "link").symlink_to(tmp_path / "secret")
    # The script itself is read from the path of modules.
    allowed = {
        "readable": [str(tmp_path / "readable"), str(tmp_path / "gone")],
        "writable": [str(tmp_path / "writable")],
    }
    code = tmp_path / "code"
    code.mkdir()
    outcomes = confined(
        code,
        allowed,
        f"read:{tmp_path}/readable/a",
        f"list:{tmp_path}/readable",
        f"write:{tmp_path}/readable/a",
        f"read:{tmp_path}/readable/link",
        f"read:{tmp_path}/writable/../secret",
        f"write:{tmp_path}/writable/b",
        f"write:{tmp_path}/c",
        f"list:{tmp_path}",
        "read:/etc/passwd",
        "read:/proc/1/environ",
        "read:/proc/self/status",
        "write:/dev/null",
    )
    expected = ["text", "listed", "denied", "denied", "denied", "written", "denied", "denied"]
    expected += ["denied", "denied", "Name", "written"]
    assert list(outcomes.values()) == expected, outcomes
    assert (tmp_path / "readable" / "a").read_text() == "text"


def test_a_process_with_threads_is_not_confined_in_part() -> None:
    import threading

    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    variables = dict(os.environ)
    try:
        with pytest.raises(RuntimeError, match="several threads"):
            confine(Confinement())
    finally:
        over.set()
        thread.join()
        os.environ.clear()
        os.environ.update(variables)


def test_documents_name_files_below_stated_directories(tmp_path: Path) -> None:
    """The check of the document itself, where the kernel would allow the file."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    scenario = tmp_path / "a" / "s.toml"
    for target, good in (("../b/t.csv", False), ("t.csv", True), ("././t.csv", True)):
        scenario.write_text(SCENARIO.format(target))
        words = [sys.executable, "-m", "headrace", "explain", str(scenario)]
        environment = os.environ | {"HEADRACE_READ_BELOW": str(tmp_path / "a")}
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert done.returncode == (0 if good else 2), (target, done.stderr)
        if not good:
            (line,) = done.stderr.splitlines()[:1]
            assert "s.toml:8:8" in line and "outside the directories" in line
