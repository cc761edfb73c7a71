"""Replacement policies in Python."""

from pathlib import Path

import pytest

import headrace as hr
from conftest import ROOT, Command

SCENARIO = ROOT / "scenarios" / "cache-policies.toml"
SECOND_CHANCE = ROOT / "scenarios" / "second_chance.py"
SHORT = {"run.warm_up": "0.1 s", "run.stop.time": "0.3 s"}


def own(file: Path, name: str) -> dict[str, str]:
    sets = {"servers.memory.replacement": "python", "servers.memory.python": f"{file}:{name}"}
    return SHORT | sets


def policy(tmp_path: Path, body: str) -> dict[str, str]:
    """Settings of a policy with some methods."""
    file = tmp_path / "mine.py"
    file.write_text(f"import headrace\n\nclass Mine(headrace.ReplacementPolicy):\n{body}")
    return own(file, "Mine")


def test_a_policy_in_python_is_as_the_one_of_headrace() -> None:
    python = hr.load(SCENARIO, own(SECOND_CHANCE, "SecondChance"))
    clock = hr.load(SCENARIO, SHORT | {"servers.memory.replacement": "clock"})
    documents = [hr.run(it, trust=True).document for it in (python, clock)]
    assert documents[0]["caches"] == documents[1]["caches"]
    assert documents[0]["latency"] == documents[1]["latency"]


def test_code_is_not_executed_without_trust(tmp_path: Path) -> None:
    scenario = hr.load(SCENARIO, policy(tmp_path, "    pass\n"))
    with pytest.raises(hr.ScenarioError, match="servers.memory.python"):
        hr.run(scenario)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    pass\n", "Mine.insert of cache 0 raised NotImplementedError"),
        (
            "    def insert(self, page): pass\n    def evict(self, page): return page\n",
            "Mine.evict of cache 0 returned .*, which is not cached",
        ),
        (
            "    def insert(self, page): pass\n    def evict(self, page): return 7\n",
            r"Mine.evict of cache 0 returned 7: expected a cached page, \(file, number\)",
        ),
        (
            "    def insert(self, page): pass\n    def evict(self, page): 1 / 0\n",
            r"mine.py:5: Mine.evict of cache 0 raised ZeroDivisionError",
        ),
    ],
)
def test_an_error_names_the_method(tmp_path: Path, body: str, message: str) -> None:
    scenario = hr.load(SCENARIO, policy(tmp_path, body))
    with pytest.raises(hr.RunError, match=message):
        hr.run(scenario, trust=True)


def test_a_class_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    made = policy(tmp_path, "    def __init__(self, pages): raise ValueError(pages)\n")
    with pytest.raises(
        hr.ScenarioError, match=r"Mine\(1024\) cannot be created: .*ValueError: 1024"
    ):
        hr.run(hr.load(SCENARIO, made), trust=True)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (own(SECOND_CHANCE, "Missing"), "has no class Missing"),
        (own(SECOND_CHANCE, "OrderedDict"), "no subclass of headrace.ReplacementPolicy"),
        (own(ROOT / "missing.py", "Mine"), "there is no file"),
        ({"servers.memory.replacement": "python"}, "expected its class too"),
        ({"servers.memory.python": "a.py:A"}, "only with servers.memory.replacement"),
        ({"servers.memory.replacement": "mru"}, "lru"),
    ],
)
def test_wrong_names_are_refused(sets: dict[str, str], message: str) -> None:
    with pytest.raises(hr.ScenarioError, match=message):
        hr.run(hr.load(SCENARIO, sets), trust=True)


def test_a_machine_has_no_policy_in_python() -> None:
    text = """system = "ext4"
[machine.memory]
replacement = "python"
[machine.device]
read_rate = "1 GB/s"
write_rate = "1 GB/s"
[[workload]]
block = "1 MiB"
"""
    with pytest.raises(hr.ScenarioError, match="one of Headrace's own policies"):
        hr.load(text)


def test_the_command_asks_for_trust(headrace: Command) -> None:
    sets = [f"--set={path}={value}" for path, value in own(SECOND_CHANCE, "SecondChance").items()]
    refused = headrace("run", SCENARIO, *sets, "--no-store")
    assert refused.returncode != 0
    assert "servers.memory.python" in refused.stderr
    assert "Traceback" not in refused.stderr
