"""Linear temporal formulas of nets, with automata of a real translator."""

import shutil

import pytest

from conftest import ROOT, Command
from headrace import RunError, ScenarioError
from headrace.net import Net, load

NETS = ROOT / "scenarios" / "nets"
needs_translator = pytest.mark.skipif(
    shutil.which("lbt") is None, reason="needs the program lbt of the package of this name"
)


def lights() -> Net:
    """A light that goes round, red to green to yellow, and may fail at yellow."""
    net = Net("light")
    red = net.place("red", initial=1)
    green, yellow, failed = net.place("green"), net.place("yellow"), net.place("failed", sink=True)
    for name, before, after in (
        ("go", red, green),
        ("warn", green, yellow),
        ("stop", yellow, red),
        ("fail", yellow, failed),
    ):
        with net.transition(name) as t:
            t.take(before)
            t.put(after)
    return net


@needs_translator
@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("X(green == 1)", True),
        ("X(X(red == 1))", False),
        ("F(yellow == 1)", True),
        # The run that never fails, and the run that does.
        ("F(failed == 1)", False),
        ("G(F(red == 1))", False),
        ("G(F(red == 1)) or F(G(failed == 1))", True),
        ("G(not (red == 1 and green == 1))", True),
        ("[red == 1 U green == 1]", True),
        ("[red == 1 U yellow == 1]", False),
        ('G(not fires("stop") or X(dead or red == 1))', True),
        ('G(dead or F(fires("go")))', False),
        # A dead marking stays.
        ("G(not dead or X(dead))", True),
        ("F(dead)", False),
    ],
)
def test_known_answers(formula: str, holds: bool) -> None:
    space = lights().state_space(holds=[formula])
    assert space.formulas[0]["holds"] is holds
    assert (space.formulas[0]["path"] is None) is holds


@needs_translator
def test_a_run_that_breaks_a_formula(headrace: Command) -> None:
    (held,) = lights().state_space(holds=["F(failed == 1)"]).formulas
    firings = [firing.split("/")[1] for firing in held["path"]["firings"]]
    assert firings[-held["repeated"] :] in (
        ["go", "warn", "stop"],
        ["warn", "stop", "go"],
        ["stop", "go", "warn"],
    )
    (held,) = lights().state_space(holds=["G(not dead)"]).formulas
    assert [firing.split("/")[1] for firing in held["path"]["firings"]] == ["go", "warn", "fail"]
    assert held["repeated"] == 0
    philosophers = NETS / "philosophers.toml"
    ended = headrace("net", "check", philosophers, "--holds", "G(F(eating >= 1))")
    assert ended.returncode == 1
    assert "G(F(eating >= 1)) does not hold\n" in ended.stdout


def test_formulas_that_are_none() -> None:
    net = load(NETS / "philosophers.toml")
    with pytest.raises(ScenarioError, match=r"expected G\(f\)"):
        net.state_space(holds=["G(F(eating >= 1)"])
    with pytest.raises(ScenarioError, match="expected A or E at each operator"):
        net.state_space(holds=["AG(F(eating >= 1))"])


def test_a_translator_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunError, match="lbt, which is not installed"):
        lights().state_space(holds=["F(dead)"])
