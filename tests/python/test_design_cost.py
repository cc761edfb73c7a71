"""Costs over years, missing prices, limits of the budget, and tables of figures."""

import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from conftest import Command
from headrace.design import archive
from headrace.design.array_level import array_of
from headrace.design.capacity import capacity
from headrace.design.catalogue import Catalogue
from headrace.design.cost import cost, cost_violations, missing_prices
from headrace.design.figure import Figure, Input, by_key
from headrace.design.system import Code
from headrace.design.worksheet import Budget, CapacityNeed, Facility, Worksheet
from headrace.quantities import number
from headrace.report.figure_tables import (
    arithmetic,
    figure_rows,
    figure_table,
    figures_document,
    value_text,
)
from test_design_capacity import DISK, NETWORK, NODE, design

DESIGN = design(array_of("raid6", 12))
CATALOGUE = Catalogue(
    name="example", date="2026-01-01", currency="USD", disks=(DISK,), nodes=(NODE,),
    networks=(NETWORK,), maintenance_share=0.1,
)  # fmt: skip
PURCHASE = 50 * 120 + 5 * 3500 + 5 * 200 + 32 * 100


def worksheet(years: float = 3.0, place: str = "on-site", **budget: float | bool) -> Worksheet:
    return Worksheet(
        name="w",
        capacity=CapacityNeed(usable=100e12, years=years),
        facility=msgspec.convert({"place": place}, Facility),
        budget=msgspec.convert(budget, Budget),
    )


def values(form: Worksheet, throughput: float | None = None) -> dict[str, float]:
    figures = cost(DESIGN, CATALOGUE, form, throughput)
    return {key: it.value for key, it in by_key(figures).items()}


def test_the_total_is_the_sum_of_its_parts() -> None:
    form = worksheet(5, electricity=0.2, engineer_hour=60.0, vendor_agreement=True)
    found = values(form, 2e9)
    assert found["purchase"] == PURCHASE
    assert found["maintenance"] == pytest.approx(0.1 * PURCHASE * 5)
    watts = 1.5 * (8 * 50 + 250 * 5 + 160)
    assert found["power-month"] == pytest.approx(watts / 1000 * 730 * 0.2)
    assert found["power-cost"] == pytest.approx(found["power-month"] * 60)
    failures = 50 * 730 / 1.2e6
    assert found["failures-month"] == pytest.approx(failures)
    assert found["engineer"] == pytest.approx((4 + failures) * 60 * 60)
    total = sum(found[key] for key in ("purchase", "maintenance", "power-cost", "engineer"))
    assert found["total-cost"] == pytest.approx(total)
    usable = by_key(capacity(DESIGN))["usable-capacity"].value
    assert found["cost-per-tb"] == pytest.approx(total / (usable / 1e12))
    assert found["cost-per-tb-year"] == pytest.approx(found["cost-per-tb"] / 5)
    assert found["cost-per-rate"] == pytest.approx(total / 2)


def test_a_co_location_is_paid_by_the_rack() -> None:
    found = values(worksheet(2, "co-location", rack_month=900.0))
    assert found["colocation"] == 900 * 24
    assert "power-cost" not in found
    assert "colocation" not in values(worksheet(2, "on-site", rack_month=900.0))


def test_without_an_agreement_failed_disks_are_bought() -> None:
    found = values(worksheet(5, vendor_agreement=False))
    assert "maintenance" not in found
    assert found["spare-parts"] == pytest.approx(50 * 8760 * 5 / 1.2e6 * 120)


def test_quoted_maintenance_takes_the_place_of_a_share() -> None:
    quoted = msgspec.structs.replace(
        DESIGN, node=msgspec.structs.replace(NODE, yearly_maintenance=100.0)
    )
    figures = by_key(cost(quoted, CATALOGUE, worksheet(1)))
    assert figures["maintenance-year"].value == pytest.approx(5 * 100 + 0.1 * (PURCHASE - 17500))


def test_a_missing_price_gives_no_total_and_is_named() -> None:
    unpriced = msgspec.structs.replace(
        DESIGN, network=msgspec.structs.replace(NETWORK, port_price=None)
    )
    figures = by_key(cost(unpriced, CATALOGUE, worksheet(electricity=0.2)))
    for key in ("purchase", "maintenance", "total-cost", "cost-per-tb"):
        assert key not in figures
    assert figures["priced-parts"].value == PURCHASE - 3200
    assert "network 10gbe" in figures["priced-parts"].note
    assert "power-cost" in figures, "what needs no missing price is given"
    assert missing_prices(unpriced) == ("network 10gbe",)
    assert missing_prices(DESIGN) == ()


def test_unknown_answers_are_named_beside_the_total() -> None:
    figures = by_key(cost(DESIGN, CATALOGUE, worksheet()))
    assert "budget.electricity" in figures["total-cost"].note
    assert "budget.engineer_hour" in figures["total-cost"].note
    assert "budget.vendor_agreement" in figures["maintenance-year"].note


def test_a_budget_has_limits() -> None:
    form = worksheet(
        electricity=0.2,
        initial=1000.0,
        monthly_power=1.0,
        yearly_maintenance=1.0,
        engineer_hours_month=1.0,
    )
    violations = cost_violations(cost(DESIGN, CATALOGUE, form), form)
    assert {it.field for it in violations} == {
        "budget.initial",
        "budget.monthly_power",
        "budget.yearly_maintenance",
        "budget.engineer_hours_month",
    }
    rich = worksheet(electricity=0.2, initial=1e9, monthly_power=1e9)
    assert cost_violations(cost(DESIGN, CATALOGUE, rich), rich) == ()


@given(
    years=st.floats(0.5, 20),
    electricity=st.floats(0, 2),
    hour=st.floats(0, 500),
)
def test_more_years_never_cost_less(years: float, electricity: float, hour: float) -> None:
    short = values(worksheet(years, electricity=electricity, engineer_hour=hour))
    long = values(worksheet(years + 1, electricity=electricity, engineer_hour=hour))
    assert short["total-cost"] <= long["total-cost"]
    assert short["purchase"] == long["purchase"]


def test_every_figure_has_a_source_and_its_arithmetic() -> None:
    for it in cost(DESIGN, CATALOGUE, worksheet(electricity=0.2, engineer_hour=60.0)):
        assert it.source
        assert arithmetic(it)
        for one in it.inputs:
            assert one.name in it.formula
            assert one.source


def test_arithmetic_puts_the_longest_name_in_first() -> None:
    figure = Figure(
        key="x", title="x", value=1.0, unit="1", formula="spare disks / disks",
        inputs=(Input("disks", "8", ""), Input("spare disks", "2", "")),
    )  # fmt: skip
    assert arithmetic(figure) == "2 / 8"


def test_values_have_fitting_units() -> None:
    def text(value: float, unit: str, error: float | None = None) -> str:
        fields = {"key": "x", "title": "x", "value": value, "unit": unit, "formula": ""}
        return value_text(msgspec.convert(fields | {"standard_error": error}, Figure), "USD")

    assert text(80e12, "B") == "80 TB (72.76 TiB)"
    assert text(2.5e9, "B/s") == "2.5 GB/s"
    assert text(1234.5, "money") == "1,234.5 USD"
    assert text(60.5, "money/TB") == "60.5 USD/TB"
    assert text(1.5, "t (cooling)") == "1.5 tons"
    assert text(0.99999, "1") == "0.99999"
    assert text(1e-9, "1", 1e-11) == "1.00e-09 \N{PLUS-MINUS SIGN} 1.00e-11"
    assert text(10 * 8760 * 3600, "s") == "10 years"
    assert text(90, "s") == "90 s"
    assert number(float("inf")) == "infinite"


def test_a_document_has_no_number_that_json_lacks() -> None:
    figure = Figure(key="x", title="x", value=float("inf"), unit="s", formula="1 / 0")
    assert figures_document([figure])["x"]["value"] is None
    (row,) = figure_rows([figure])
    assert row.value == "infinite"


def test_the_command_answers_in_one_line(headrace: Command) -> None:
    ended = headrace(
        "design", "cost", "--nodes", "4", "--node-price", "4000", "--disks", "12",
        "--capacity", "4 TB", "--disk-price", "120", "--level", "raid6", "--electricity", "0.2",
        "--years", "5", "--throughput", "2 GB/s", "--json",
    )  # fmt: skip
    document = json.loads(ended.stdout)
    assert document["purchase"] == 4 * 4000 + 48 * 120
    assert document["cost_per_rate"] == pytest.approx(document["total_cost"] / 2)


@pytest.mark.parametrize(
    "wrong",
    [
        ("--disk-price", "inf"),
        ("--mttf", "5"),
        ("--throughput", "5"),
        ("--years", "0"),
        ("--electricity", "-1"),
    ],
)
def test_wrong_options_are_refused_in_one_line(headrace: Command, wrong: tuple[str, str]) -> None:
    options = {
        "--disk-price": "1", "--node-price": "1", "--disks": "4", "--capacity": "4 TB",
        "--level": "raid5",
    } | dict([wrong])  # fmt: skip
    ended = headrace("design", "cost", *(one for pair in options.items() for one in pair))
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "expected" in ended.stderr


def test_a_currency_steers_no_terminal() -> None:
    figure = Figure(key="price", title="price", value=1.0, unit="money", formula="", source="x")
    (row,) = figure_rows([figure], "\x1b[31m")
    assert "\x1b" not in row.value


def test_a_long_sum_shows_its_ends() -> None:
    formula = " + ".join(f"price {number}" for number in range(164))
    figure = Figure(
        key="price", title="price", value=1.0, unit="money", formula=formula, source="x"
    )
    text = io.StringIO()
    Console(file=text, width=1000).print(figure_table("title", [figure]))
    assert "... (164 terms) + price 163" in text.getvalue()
    assert len(text.getvalue()) < 1000
    assert figures_document([figure])["price"]["formula"] == formula


def test_the_alternatives_of_an_archive_by_hand() -> None:
    """500 TB for 5 years: 8+3 over servers of 12 disks of 24 TB, LTO-9 twice, and a store.

    500 x 11 / 8 / 288 are 2.4 servers, and the code needs 11: 132 disks. A copy on tape takes 28
    cartridges.
    """
    found = {
        figure.key: figure.value
        for figure in archive.archive(
            500e12,
            5,
            archive.Servers(
                code=Code(8, 3), disks=12, disk_capacity=24e12, disk_price=480, node_price=5000,
                electricity=0.2,
            ),
            archive.Tape(
                cartridge=18e12, cartridge_price=90, drives=2, drive_price=4500, library_price=9000
            ),
            4,
        )
    }  # fmt: skip
    assert found["code-servers"] == 11
    assert found["code-purchase"] == 11 * 5000 + 132 * 480
    assert found["code-failures"] == pytest.approx(132 * 0.013626 * 5 * 480, rel=1e-4)
    assert found["code-power"] == pytest.approx(11 * 396 * 1.5 / 1000 * 8760 * 5 * 0.2)
    assert found["tape-cartridges"] == 56
    assert found["tape-total"] == 9000 + 9000 + 56 * 90
    assert found["object-total"] == 5 * 500 * 12 * 4
    larger = archive.Servers(
        code=Code(8, 3), disks=12, disk_capacity=24e12, disk_price=480, node_price=5000
    )
    # 5000 x 11 / 8 / 288 = 23.9 servers.
    assert archive.archive(5000e12, 5, larger)[0].value == 24


def test_the_command_compares_archives(headrace: Command) -> None:
    words = ("design", "archive", "--usable", "500 TB", "--currency", "EUR")
    ended = headrace(*words, "--cartridge-price", "90", "--object-price", "4")
    assert ended.returncode == 0, ended.stderr
    assert "5,040 EUR" in ended.stdout
    assert "120,000 EUR" in ended.stdout
    none = headrace(*words)
    assert none.returncode == 2
    assert "--cartridge-price, or --object-price" in none.stderr
