"""Sensitivity of sweeps: known answers."""

import math
from collections.abc import Callable, Sequence

import pytest
from polars.testing import assert_frame_equal

import headrace as hr
from conftest import SMALL
from headrace.sweeps import METHODS, Run, Sweep, parse
from headrace.sweeps.designs import design
from headrace.sweeps.task import Figures, Latency

AXES = ["layout.unit=64 KiB..1 MiB", "network.latency=0 s..1 ms", "servers.count=1..9"]


def of_function(
    method: str, samples: int, function: Callable[[Sequence[float]], float | None]
) -> Sweep:
    """A sweep whose throughput is a function of the coordinates; None fails."""
    axes = [parse(text) for text in AXES]
    made = design(METHODS[method].design, axes, hr.load(SMALL), samples, 11)
    runs = []
    for number, (point, at) in enumerate(zip(made.points, made.coordinates, strict=True)):
        value = function(at)
        figures = None if value is None else Figures(value, 1.0, Latency(), 1.0, 0.1, 1, "disk")
        error = "failed" if value is None else ""
        runs.append(
            Run(point=number, set=point, replication=0, seed=1, figures=figures, error=error)
        )
    return Sweep(
        "function",
        SMALL,
        runs,
        design=METHODS[method].design,
        axes=[axis.name for axis in axes],
        coordinates=made.coordinates,
    )


def ishigami(at: Sequence[float]) -> float:
    """Ishigami and Homma (1990), with a = 7 and b = 0.1."""
    x, y, z = (math.pi * (2 * part - 1) for part in at)
    return math.sin(x) + 7 * math.sin(y) ** 2 + 0.1 * z**4 * math.sin(x)


def test_the_ishigami_function_has_its_sobol_indices() -> None:
    table = of_function("sobol", 2048, ishigami).sensitivity()
    found = {row["path"]: row for row in table.iter_rows(named=True)}
    # Saltelli et al., Global Sensitivity Analysis: The Primer, 2008, section 4.5.
    known = {
        "layout.unit": (0.3139, 0.5576),
        "network.latency": (0.4424, 0.4424),
        "servers.count": (0.0, 0.2437),
    }
    for path, (alone, total) in known.items():
        assert found[path]["s1"] == pytest.approx(alone, abs=0.03)
        assert found[path]["st"] == pytest.approx(total, abs=0.03)
        assert abs(found[path]["s1"] - alone) < 2 * found[path]["s1_half_width"]
    assert table["path"].to_list()[0] == "layout.unit"


def test_a_linear_function_has_its_slopes_as_effects() -> None:
    table = of_function("morris", 10, lambda at: 5 * at[0] - 2 * at[1]).sensitivity()
    assert table["path"].to_list() == ["layout.unit", "network.latency", "servers.count"]
    assert table["mu_star"].to_list() == pytest.approx([5, 2, 0])
    assert table["mu"].to_list() == pytest.approx([5, -2, 0])
    assert table["sigma"].to_list() == pytest.approx([0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_failed_points_cost_their_block_only(method: str) -> None:
    whole = of_function(method, 512, ishigami)
    part = of_function(method, 512, lambda at: None if at[0] > 0.99 else ishigami(at))
    found = part.sensitivities
    assert found is not None
    if method == "sobol":
        assert 0 < found.dropped < 60 and found.blocks + found.dropped == 512
        (before, after) = (it.sensitivity().sort("path")["st"] for it in (whole, part))
        assert after.to_list() == pytest.approx(before.to_list(), abs=0.1)
    none = of_function(method, 8, lambda at: None).sensitivities
    assert none is not None and "blocks" in none.error and not none.figures
    assert of_function(method, 8, lambda at: None).json()["sensitivity"]["error"]


@pytest.mark.parametrize("method", METHODS)
def test_a_figure_that_does_not_vary_has_no_share(method: str) -> None:
    table = of_function(method, 8, lambda at: 3.0).sensitivity()
    values = table.drop("path").to_dict(as_series=False).values()
    assert {value for column in values for value in column} <= {None, 0.0}


@pytest.mark.parametrize("method", METHODS)
def test_throughput_depends_on_the_disks_of_a_system_that_they_limit(method: str) -> None:
    scenario = hr.load(SMALL, {"workload.0.think": "0 s", "workload.0.phases": ["read"]})
    found = hr.sweep(
        scenario,
        {
            "servers.device.read_rate": "5 MB/s..20 MB/s",
            "servers.device.write_rate": "5 MB/s..20 MB/s",
            "network.bandwidth": ["10 Gbit/s", "20 Gbit/s", "40 Gbit/s"],
        },
        sensitivity=method,
        samples=16,
    )
    table = found.sensitivity()
    main, *others = table["st" if method == "sobol" else "mu_star"].to_list()
    assert table["path"][0] == "servers.device.read_rate"
    assert all(abs(other) < 0.05 * main for other in others)
    assert found.plot_sensitivity().axes[0].get_yticklabels()[0].get_text() == table["path"][0]
    document = found.json()["sensitivity"]
    assert document["method"] == method
    assert [it["path"] for it in document["figures"]["throughput"]] == table["path"].to_list()
    again = Sweep.from_document(found.document)
    assert_frame_equal(again.sensitivity("latency_p95"), found.sensitivity("latency_p95"))


def test_other_designs_have_no_indices() -> None:
    found = hr.sweep(hr.load(SMALL), {"clients.count": [2, 4]})
    assert found.sensitivities is None and "sensitivity" not in found.json()
    with pytest.raises(ValueError, match="full design has no sensitivity"):
        found.sensitivity()
