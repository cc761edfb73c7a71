"""Rules and states of monitors: the cases of Wang 2002, section 4.3, and its holes."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from headrace.monitors.figures import FIGURES, MONITORS, value_of
from headrace.monitors.host_sampler import chosen_figures
from headrace.monitors.rules import load_rules, parse_rules, shipped_text
from headrace.monitors.states import HostStates, State, is_reported

RULES = load_rules()


def disk(utilisation: float, service_s: float | None) -> dict[str, float]:
    figures = {"disk.sda.utilisation": utilisation}
    return figures if service_s is None else figures | {"disk.sda.service_s": service_s}


def state_after(
    figures: Mapping[str, float], monitor: str, device: str = "", samples: int = 20
) -> State:
    states = HostStates(RULES)
    for at in range(samples):
        states.update(figures, float(at))
    return next(it for it in states.states() if (it.monitor, it.device) == (monitor, device))


@pytest.mark.parametrize(
    ("utilisation", "service_ms", "rule"),
    [
        # As the source has them.
        (0.10, 40, "disk-overloaded"),
        (0.051, 30.1, "disk-overloaded"),
        (0.199, 49.9, "disk-overloaded"),
        (0.21, 50.1, "disk-problem"),
        (1.00, 500, "disk-problem"),
        # Its holes.
        (0.05, 40, ""),
        (0.05, 5000, ""),
        (0.01, 60, ""),
        (0.10, 30, ""),
        (0.10, 5, ""),
        (0.10, 50, "disk-slow"),
        (0.10, 200, "disk-slow"),
        (0.20, 40, "disk-slow"),
        (0.20, 60, "disk-slow"),
        (0.50, 50, "disk-slow"),
        (0.50, 40, "disk-slow"),
        (0.50, 30, ""),
        (1.00, 1, ""),
        # Without requests there is no service time.
        (0.50, None, ""),
    ],
)
def test_states_of_disks(utilisation: float, service_ms: float | None, rule: str) -> None:
    service_s = None if service_ms is None else service_ms / 1e3
    found = state_after(disk(utilisation, service_s), "disk", "sda")
    assert found.rule == rule
    if rule == "disk-overloaded":
        assert (found.state, found.text) == ("warning", "disk busy or overloaded")
    if rule == "disk-problem":
        assert (found.state, found.text) == ("problem", "disk may have problems")


def processor(idle: float, iowait: float = 0.0, pressure: float = 0.0) -> dict[str, float]:
    return {"cpu.idle": idle, "cpu.iowait": iowait, "pressure.cpu": pressure}


@pytest.mark.parametrize(
    ("figures", "rule"),
    [
        (processor(0.99), "processor-idle"),
        (processor(0.5), "processor-working"),
        (processor(0.1), "processor-busy"),
        (processor(0.3, iowait=0.5), "processor-waiting"),
        (processor(0.01, pressure=0.9), "processor-overloaded"),
        # All processors are busy, but nobody waits.
        (processor(0.01, pressure=0.1), "processor-busy"),
        # Without PSI a processor without idle time counts as overloaded.
        ({"cpu.idle": 0.01, "cpu.iowait": 0.0}, "processor-overloaded"),
    ],
)
def test_the_five_states_of_processors(figures: Mapping[str, float], rule: str) -> None:
    assert state_after(figures, "processor").rule == rule


@pytest.mark.parametrize(
    ("figures", "monitor", "device", "rule"),
    [
        ({"net.eth0.errors_per_s": 2.0}, "network", "eth0", "network-errors"),
        ({"net.eth0.errors_per_s": 1.0}, "network", "eth0", ""),
        ({"net.eth0.drops_per_s": 3.0}, "network", "eth0", "network-drops"),
        (
            {"net.eth0.1.collisions_per_s": 6.0, "net.eth0.1.send_packets_per_s": 100.0},
            "network",
            "eth0.1",
            "network-collisions",
        ),
        (
            {"tcp.retransmits_per_s": 20.0, "net.eth0.send_packets_per_s": 1000.0},
            "tcp",
            "",
            "tcp-delayed",
        ),
        (
            {"tcp.retransmits_per_s": 100.0, "net.eth0.send_packets_per_s": 1000.0},
            "tcp",
            "",
            "tcp-delayed-heavily",
        ),
        (
            {"memory.available_bytes": 5.0, "memory.total_bytes": 100.0},
            "memory",
            "",
            "memory-low",
        ),
        (
            {"memory.available_bytes": 1.0, "memory.total_bytes": 100.0},
            "memory",
            "",
            "memory-exhausted",
        ),
        ({"pressure.memory": 0.1}, "memory", "", "memory-pressure"),
        ({"pressure.memory": 0.3}, "memory", "", "memory-stalled"),
        (
            {"paging.swap_in_bytes_per_s": 3e5, "paging.swap_out_bytes_per_s": 2e5},
            "memory",
            "",
            "memory-swapping",
        ),
        ({"nfs./mnt/a.rtt_s": 0.2}, "nfs", "/mnt/a", "nfs-slow"),
        ({"nfs./mnt/a.b.retransmits_per_s": 2.0}, "nfs", "/mnt/a.b", "nfs-lost"),
    ],
)
def test_states_of_other_monitors(
    figures: Mapping[str, float], monitor: str, device: str, rule: str
) -> None:
    assert state_after(figures, monitor, device).rule == rule


def test_a_rule_holds_only_after_its_samples_and_ends_only_after_as_many() -> None:
    states = HostStates(RULES)
    slow, fast = disk(0.5, 0.1), disk(0.5, 0.001)

    def now() -> str:
        return next(it.state for it in states.states() if it.monitor == "disk")

    history = []
    for at, figures in enumerate([*[slow] * 4, fast, *[slow] * 5, *[fast] * 4, slow, *[fast] * 5]):
        states.update(figures, float(at))
        history.append(now())
    # Four slow ones do not suffice; then five do, and four fast ones do not end it.
    assert history == ["ok"] * 9 + ["problem"] * 10 + ["ok"]


def test_changes_have_before_and_after_and_their_time() -> None:
    states = HostStates(RULES)
    changes = [it for at in range(10) for it in states.update(disk(0.5, 0.1), 100.0 + at)]
    (change,) = [it for it in changes if it.after.monitor == "disk"]
    assert (change.before.state, change.after.state, change.after.since) == ("ok", "problem", 104.0)
    # Between states that are ok nothing happened that anyone wants to read.
    assert is_reported(change)
    assert not any(is_reported(it) for it in changes if it.after.monitor == "processor")


def test_a_device_that_is_gone_has_no_state() -> None:
    states = HostStates(RULES)
    for at in range(10):
        states.update(disk(0.5, 0.1), float(at))
    (change,) = states.update({}, 10.0)
    assert (change.before.state, change.after.state) == ("problem", "ok")
    assert all(it.monitor != "disk" for it in states.states())


def test_new_rules_keep_the_states_of_those_that_did_not_change() -> None:
    states = HostStates(RULES)
    for at in range(10):
        states.update(disk(0.5, 0.1) | {"net.eth0.errors_per_s": 9.0}, float(at))
    states.set_rules(parse_rules("[disk-problem.when]\nservice = { above = 1.0 }"))
    states.update(disk(0.5, 0.1) | {"net.eth0.errors_per_s": 9.0}, 10.0)
    found = {it.monitor: it for it in states.states()}
    assert (found["network"].state, found["network"].since) == ("problem", 2.0)
    assert found["disk"].rule == "disk-slow"


def test_own_rules_change_remove_and_add() -> None:
    own = """
[disk-problem]
samples = 2
[disk-problem.when]
service = { at_least = 0.2 }
[network-drops]
enabled = false
[disk-queue]
monitor = "disk"
state = "warning"
text = "long queue"
[disk-queue.when]
queue = { figure = "disk.queue", above = 100, of = "disk.utilisation" }
"""
    rules = {it.id: it for it in parse_rules(own)}
    assert next(iter(rules)) == "disk-queue"
    assert "network-drops" not in rules
    assert rules["disk-problem"].samples == 2
    assert rules["disk-problem"].when["service"].comparison == "at_least"
    assert rules["disk-problem"].when["busy"].operand == 0.2
    assert rules["disk-queue"].source == "own"
    for queue, holds in ((60.0, True), (40.0, False)):
        values = {"disk.a.queue": queue, "disk.a.utilisation": 0.5}
        assert rules["disk-queue"].holds(value_of(values, "disk.a.")) is holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[disk-problem]\nsampls = 3", r":2:1: disk-problem\.sampls: unknown key"),
        (
            "[disk-problem]\nsamples = 0",
            r":2:1: disk-problem\.samples: expected a whole number from 1 to",
        ),
        ("[disk-problem]\nsamples = true", r":2:1: .*expected a whole number"),
        ("[disk-problem]\nstate = 'bad'", r":2:1: .*expected one of ok, warning, problem"),
        ("[disk-problem]\nenabled = 1", r":2:1: .*expected true or false"),
        (
            "[disk-problem.when]\nbusy = { above = 'x' }",
            r":2:10: .*above: expected a number",
        ),
        (
            "[disk-problem.when]\nbusy = { above = nan }",
            r":2:10: disk-problem\.when\.busy\.above = nan: expected a finite number",
        ),
        ("[disk-problem.when]\nbsy = { above = 1 }", r":2:1: .*unknown condition"),
        ("[disk-problem.when]\nbusy = { above = 1, below = 2 }", r":2:1: .*expected one of"),
        ("[disk-problem.when]\nbusy = 3", r":2:1: .*expected a condition such as"),
        ("[new]\nmonitor = 'disk'\nstate = 'ok'", r":1:2: new\.text: expected a text"),
        ("[new]\nmonitor = 'x'", r":2:1: .*expected one of processor"),
        (
            "[new]\nmonitor = 'disk'\nstate = 'ok'\ntext = 't'\n[new.when]\n"
            "a = {figure = 'memory.swap', above = 1}",
            r":6:6: .*unknown figure 'memory\.swap': expected one of disk\.",
        ),
        ("[new]\nmonitor = 'disk'\nstate = 'ok'\ntext = 't'", r":1:2: new\.when: expected"),
        ("new = 3", r":1:1: new: expected a table"),
        ("a = ", r"expected a file of rules in TOML"),
        ("x" * 300_000, r"expected a file of at most"),
    ],
)
def test_errors_of_own_rules_name_the_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_rules(text)


def test_an_empty_source_leaves_that_of_the_shipped_rule() -> None:
    shipped = {rule.id: rule.source for rule in parse_rules("")}
    changed = parse_rules('[processor-busy]\nsource = ""\nsamples = 7')
    rule = next(rule for rule in changed if rule.id == "processor-busy")
    assert (rule.source, rule.samples) == (shipped["processor-busy"], 7)


def test_rules_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "monitor-rules.toml"
    path.write_bytes(b"# caf\xe9")
    with pytest.raises(ValueError, match=r"monitor-rules\.toml: .*not UTF-8"):
        load_rules(path)
    assert load_rules(tmp_path / "missing.toml") == RULES


def test_every_rule_names_its_source_and_a_figure_of_its_monitor() -> None:
    for rule in RULES:
        assert rule.source and rule.text
        for condition in rule.when.values():
            assert condition.figure.partition(".")[0] == rule.monitor
    assert {it.monitor for it in RULES} == set(MONITORS)
    assert {it.partition(".")[0] for it in FIGURES} == set(MONITORS)
    assert shipped_text().startswith("# Rules")


def test_figures_of_a_sample_are_few_and_complete() -> None:
    columns: dict[str, float | None] = {
        f"cpu.{number}.{state}": 0.25
        for number in range(200)
        for state in ("user", "system", "idle", "iowait")
    }
    columns |= {"cpu.7.idle": 0.0, "cpu.7.iowait": 0.1, "cpu.user": 0.25, "cpu.steal": None}
    columns |= {"disk.loop3.utilisation": 1.0, "disk.sda.utilisation": 0.5}
    columns |= {"disk.sda.reads_per_s": 30.0, "disk.sda.read_service_s": 0.010}
    columns |= {"disk.sda.writes_per_s": 10.0, "disk.sda.write_service_s": 0.050}
    found = chosen_figures(columns)
    assert found["cpu.busiest"] == pytest.approx(0.9)
    assert found["disk.sda.service_s"] == pytest.approx(0.020)
    assert not any(it.startswith(("cpu.7", "disk.loop")) for it in found)
    assert "cpu.steal" not in found


def test_the_documentation_has_the_current_tables() -> None:
    repository = Path(__file__).parents[2]
    checked = subprocess.run(
        [sys.executable, repository / "tools/rule_tables.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_the_documented_own_rules_are_rules() -> None:
    page = Path(__file__).parents[2] / "docs/reference/monitor-rules.md"
    (example,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert parse_rules(example)[0].id == "disk-queue"
