"""Scenarios as text and as fields: every example can be shown and changed in the form."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import ScenarioError, _core, simulate
from headrace.simulate.examples import Example, example, examples, scenario_of_presets
from headrace.web.quick_worker import check
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.scenario_schema import (
    all_fields,
    entered_of,
    explained_values,
    find_field,
    value_of,
)
from headrace.web.scenario_text import (
    UnchangeableText,
    document_of,
    fields_of,
    path_at,
    remove_value,
    set_value,
    value_at,
)
from headrace.web.sliders import OCTAVES, sliders

EXAMPLES = [pytest.param(it, id=it.name) for it in examples()]


@pytest.mark.parametrize("found", EXAMPLES)
def test_each_field_of_an_example_is_known_and_keeps_its_value(found: Example) -> None:
    loaded = simulate.load(found.text)
    complete = tomllib.loads(loaded.toml)
    explained = explained_values(loaded.explain())
    for path, value in fields_of(tomllib.loads(found.text)):
        field = find_field(complete, path)
        assert field is not None, path
        assert value_of(entered_of(value, field), field) == value
        assert set_value(found.text, path, value) == found.text
    offered = {it.path for it in all_fields(complete)}
    for path, value in fields_of(complete):
        if not isinstance(value, list) and path in offered:
            assert path in explained, path


@pytest.mark.parametrize("found", EXAMPLES)
def test_sliders_give_values_that_scenarios_take(found: Example) -> None:
    loaded = simulate.load(found.text)
    made = sliders(check(loaded).quantities)
    assert made
    for it in made[:6]:
        assert loaded.with_({it.path: it.setting(0.0)}).loaded.toml == loaded.toml
        for octaves in (-OCTAVES, OCTAVES):
            try:
                changed = loaded.with_({it.path: it.setting(octaves)})
            except ScenarioError as error:
                # Sizes must divide each other, for instance: the page shows why.
                assert "such as" not in error.message, it.path
                continue
            (now,) = [each for each in changed.quantities if each.path == it.path]
            if it.quantity.amount * 2.0**octaves >= 1 or it.quantity.quantity == "seconds":
                expected = it.quantity.amount * 2.0**octaves
                # Counts are rounded to whole ones.
                assert now.amount == pytest.approx(expected, rel=1e-3, abs=0.5)


def test_changes_keep_comments_and_can_be_taken_back() -> None:
    text = example("io500-whatif").text  # type: ignore[union-attr]
    changed = set_value(text, ("servers", "device", "read_rate"), "1 GB/s")
    assert changed == text.replace("550 MB/s", "1 GB/s")
    for path, value in (
        (("servers", "targets"), 2),
        (("network", "tcp", "window"), "4 MiB"),
        (("workload", "0", "io", "direct"), True),
        (("locks", "kind"), "none"),
    ):
        added = set_value(text, path, value)
        assert value_at(document_of(added), path) == value
        assert "# an assumption: one SATA SSD each" in added
        assert document_of(remove_value(added, path)) == document_of(text)


def test_a_position_is_that_of_a_field() -> None:
    text = "a = 1\n[b]\nc = { d = 2, e = 3 }\n[[f]]\ng = 1\n[[f]]\ng = 2\n[f.h]\ni = 3\n"
    assert path_at(text, 1) == ("a",)
    assert path_at(text, 3, 7) == ("b", "c", "d")
    assert path_at(text, 3, 14) == ("b", "c", "e")
    assert path_at(text, 7, 5) == ("f", "1", "g")
    assert path_at(text, 9, 5) == ("f", "1", "h", "i")
    assert path_at(text, 99) is None


@given(st.text(max_size=60))
def test_any_text_is_shown_or_refused(text: str) -> None:
    draft = ScenarioDraft(text)
    draft.given()
    draft.offered()
    try:
        draft.enter(("clients", "count"), "4")
    except (UnchangeableText, ValueError):
        assert draft.text == text
    else:
        assert value_at(document_of(draft.text), ("clients", "count")) == 4


@pytest.mark.parametrize("system", [name for name, _ in _core.presets()])
def test_presets_make_scenarios(system: str) -> None:
    works = 0
    for workload, _ in _core.workloads():
        text = scenario_of_presets(system, workload)
        try:
            simulate.load(text)
            works += 1
        except ValueError as error:
            # HDFS does not write into files that are there.
            assert "write_once" in str(error)
    assert works
