"""The one grammar of quantities, and how they are written."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import _core
from headrace.quantities import (
    YEAR,
    binary_size,
    duration,
    figure,
    number,
    parse_probability,
    parse_time,
    probability_text,
    rate_text,
    size,
    written_rate,
    written_time,
)

TIMES = {
    "2 w": 1_209_600.0,
    "12 hours": 43_200.0,
    "0.2 ms": 0.0002,
    "1,000 h": 3_600_000.0,
    "1_000 h": 3_600_000.0,
    "14 d": 1_209_600.0,
    "1.5 min": 90.0,
    "5 µs": 5e-6,
}


@pytest.mark.parametrize("text", TIMES)
def test_a_time_is_read_alike_everywhere(text: str) -> None:
    assert _core.parse_seconds(text) == pytest.approx(TIMES[text], rel=1e-12)
    assert _core.parse_span(text) == pytest.approx(TIMES[text], rel=1e-12)


def test_a_year_has_8760_hours() -> None:
    assert parse_time("1 y") == parse_time("8,760 h") == parse_time("12 months") == YEAR
    assert parse_time("1,000,000 h") == 3.6e9


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("5", "the unit is missing"),
        ("5 furlongs", "furlongs is no unit of it"),
        ("1,5 h", "groups of thousands have three digits"),
        ("1,00,000 h", "groups of thousands have three digits"),
        ("0,001 h", "groups of thousands have three digits"),
        ("1_000,000 h", "groups of thousands have three digits"),
        ("-3 h", "it must not be negative"),
        ("nan h", "expected a time"),
        ("0 s", "0.001 s or more"),
        ("2e9 y", "at most 1e9 y"),
    ],
)
def test_what_is_no_time_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"expected a time such as") as refused:
        parse_time(text)
    assert reason in str(refused.value)


def test_sizes_and_rates_have_groups_of_thousands_too() -> None:
    assert _core.parse_bytes("1,024 KiB") == 1 << 20
    assert _core.parse_rate("1,000 MB/s") == 1e9
    assert _core.parse_rate("1 Gbit/s") == 1.25e8


@pytest.mark.parametrize(("text", "value"), [("0.99", 0.99), ("99 %", 0.99), ("99%", 0.99)])
def test_a_probability_is_a_number_or_a_percentage(text: str, value: float) -> None:
    assert parse_probability(text) == value


@pytest.mark.parametrize("text", ["0", "1", "100 %", "nan", "x", "", "%"])
def test_what_is_no_probability_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        parse_probability(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (5_400.0, "90 min"),
        (90.0, "90 s"),
        (1.5 * YEAR, "547.5 d"),
        (2.5 * YEAR, "2.5 years"),
        (0.0123, "12.3 ms"),
        (0.99999, "1 s"),
        (-0.0, "0 s"),
        (0.000_057_49, "57.49 µs"),
        (2e-9, "2 ns"),
        (2.153e9 * YEAR, "2.15e+09 years"),
        (math.inf, "infinite"),
    ],
)
def test_a_time_is_written_in_one_way(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "measured", "exact"),
    [
        (0.0123, "0.0123", "0.0123"),
        (0.00123, "0.00123", "0.00123"),
        (0.000_123, "1.23e-04", "1.23e-04"),
        (240.0, "240.0", "240"),
        (57.494, "57.49", "57.49"),
        (1234.5, "1,234", "1,234.5"),
        (1234.56789, "1,235", "1,235"),
        (0.999_99, "1.000", "0.99999"),
        (2.5e12, "2,500,000,000,000", "2,500,000,000,000"),
        (2.5e15, "2.50e+15", "2.50e+15"),
        (0.0, "0", "0"),
        (120.55, "120.5", "120.55"),
        (99.996, "100.0", "100"),
        (math.nan, "unknown", "unknown"),
    ],
)
def test_a_number_has_three_digits_or_more(value: float, measured: str, exact: str) -> None:
    assert (figure(value), number(value)) == (measured, exact)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "50 %"),
        (0.999_95, "99.995 %"),
        (0.999_999_9, "99.99999 %"),
        (1.0, "100 %"),
        (2e-6, "2e-06"),
        (0.0, "0"),
    ],
)
def test_a_probability_near_1_differs_from_1(value: float, text: str) -> None:
    assert probability_text(value) == text


def test_sizes_and_rates_have_decimal_units() -> None:
    assert size(80e12) == "80 TB"
    assert size(999.0) == "999 B"
    assert size(999_999.0) == "1 MB"
    assert size(999_999_999.0) == "1 GB"
    assert rate_text(240e6) == "240 MB/s"
    assert binary_size(3 << 19) == "1536 KiB"


@given(st.floats(1e-3, 1e15))
def test_figures_keep_three_digits(value: float) -> None:
    assert float(figure(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)


@given(st.floats(1e-12, 1e7))
def test_what_documents_have_reads_back(value: float) -> None:
    assert _core.parse_seconds(written_time(value)) == pytest.approx(value, rel=1e-8)
    assert _core.parse_rate(written_rate(value * 1e9)) == pytest.approx(value * 1e9, rel=1e-8)
