"""`headrace design init`, `check`, `catalogue` and `schema`."""

import csv
import io
import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from conftest import Command

LEAST = '[capacity]\nusable = "20 TB"\n'


@pytest.fixture
def worksheet(tmp_path: Path) -> Path:
    path = tmp_path / "my.toml"
    path.write_text(LEAST)
    return path


def test_a_form_is_written_and_checked(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    ended = headrace("design", "init", file)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.rstrip().endswith(f"headrace design check {file}")
    assert "How much usable capacity is needed at the start" in file.read_text()
    checked = headrace("design", "check", file)
    assert checked.returncode == 0, checked.stderr
    assert "budget.initial is unknown" in checked.stdout


def test_a_form_overwrites_no_file_by_accident(headrace: Command, worksheet: Path) -> None:
    ended = headrace("design", "init", worksheet)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"{worksheet}: exists")
    assert worksheet.read_text() == LEAST
    assert headrace("design", "init", worksheet, "--force").returncode == 0
    assert worksheet.read_text() != LEAST


def test_an_example_and_a_catalogue_are_written(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    assert headrace("design", "init", file, "--example", "lab").returncode == 0
    assert tomllib.loads(file.read_text())["capacity"]["usable"] == "20 TB"
    none = headrace("design", "init", tmp_path / "x.toml", "--example", "farm")
    assert none.returncode == 2
    assert none.stderr == "no example is called 'farm': expected hpc, lab, training, video\n"
    both = headrace("design", "init", tmp_path / "x.toml", "--example", "lab", "--for-catalogue")
    assert both.returncode == 2
    assert not (tmp_path / "x.toml").exists()
    prices = tmp_path / "prices.toml"
    assert headrace("design", "init", prices, "--for-catalogue").returncode == 0
    assert headrace("design", "catalogue", prices).returncode == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "missing section [capacity]"),
        ("[capacity]\nusable = 20\n", ':2:10: capacity.usable = 20: expected a size such as "'),
        ("[capacity]\nusable = 20 TB\n", 'text needs quotes: usable = "20 TB"'),
        ('[capacity]\nusable = "0 TB"\n', "it must be more than 0"),
        (f"{LEAST}growth = 30\n", ":3:10: capacity.growth = 30: expected a growth from 0 to 10"),
        (f"{LEAST}growth = nan\n", "it must be finite"),
        (f'{LEAST}[facility]\npower = "5 kVA"\n', "the units are W, mW, kW, MW"),
        (f"{LEAST}[facilty]\n", "unknown section [facilty]: did you mean [facility]?"),
        (f'{LEAST}[[data]]\nname = "x"\nclass = "many-files"\nzone = "A"\n', "no [[zone]]"),
        (f'{LEAST}[budget]\ninitial = "40000 EUR"\n', "a number of more than 0"),
    ],
)
def test_a_mistake_is_one_line(headrace: Command, tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    ended = headrace("design", "check", file, "--json")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(str(file))
    assert expected in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_missing_profile_is_one_line(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(
        f'{LEAST}[[client]]\nname = "c"\ncount = 1\n[[zone]]\nname = "z"\n[[application]]\n'
        'name = "a"\nclients = ["c"]\nzones = ["z"]\nprofile = "none.json"\n'
    )
    ended = headrace("design", "check", file)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"{file}:12:11: application.0.profile = ")
    assert "there is no such file" in ended.stderr


@pytest.mark.parametrize(
    ("set_value", "expected"),
    [
        ("capacity.usable=20", "a bare number has no unit"),
        ("capacity.usabel=20 TB", 'did you mean "capacity.usable"?'),
        ("capacity", "expected path=value"),
    ],
)
def test_a_wrong_setting_is_one_line(
    headrace: Command, worksheet: Path, set_value: str, expected: str
) -> None:
    ended = headrace("design", "check", worksheet, "--set", set_value)
    assert ended.returncode == 2
    assert expected in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_check_as_json(headrace: Command, worksheet: Path) -> None:
    ended = headrace("design", "check", worksheet, "--json", "--set", "capacity.growth=30 %")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["worksheet"]["capacity"]["growth"] == 0.3
    assert found["contradictions"] == []
    answers = {it["path"]: it for it in found["answers"]}
    assert answers["capacity.usable"]["origin"] == f"{worksheet}:2:10"
    assert any(it.startswith("budget.initial is unknown") for it in found["unknown"])


def test_contradictory_requirements_are_shown_with_their_line(
    headrace: Command, tmp_path: Path
) -> None:
    file = tmp_path / "clash.toml"
    file.write_text(f"{LEAST}[budget]\ninitial = 10\n")
    ended = headrace("design", "check", file)
    assert ended.returncode == 1
    assert f"- {file}:4:11: budget.initial: " in ended.stdout


def test_catalogues_are_listed(headrace: Command) -> None:
    ended = headrace("design", "catalogue")
    assert ended.returncode == 0, ended.stderr
    for text in ("nearline 16 TB", "4U60", "InfiniBand NDR", "hindman-2011", "declared price"):
        assert text in ended.stdout
    found = json.loads(headrace("design", "catalogue", "hindman-2011", "--json").stdout)
    assert found["currency"] == "USD"
    text = headrace("design", "catalogue", "--toml").stdout
    assert "ALL PRICES ARE EXAMPLES" in text
    changed = headrace("design", "catalogue", "--toml", "--set", "disk.0.price=99")
    assert tomllib.loads(changed.stdout)["disk"][0]["price"] == 99


def test_a_missing_price_is_unknown(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    text = headrace("design", "catalogue", "--toml").stdout
    file.write_text(text.replace("price = 95\n", ""))
    ended = headrace("design", "catalogue", file)
    assert ended.returncode == 0, ended.stderr
    (line,) = (it for it in ended.stdout.splitlines() if it.startswith(" desktop 4 TB"))
    assert line.count("unknown") == 2


def test_a_wrong_catalogue_is_one_line(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    text = headrace("design", "catalogue", "--toml").stdout
    for old, new, expected in [
        ("bit_error_rate = 1e-14", "bit_error_rate = 1.5", "up to 1e-6"),
        ('name = "nearline 8 TB"', 'name = "nearline 4 TB"', "another [[disk]] is called"),
        ("price = 95", "price = -95", "an amount of money"),
        ('form_factors = ["nvme"]', 'form_factors = ["2.5-inch"]', "no slot takes it"),
    ]:
        assert old in text
        # Several nodes take NVMe.
        file.write_text(text.replace(old, new, -1 if "form" in old else 1))
        ended = headrace("design", "catalogue", file)
        assert ended.returncode == 2
        assert expected in ended.stderr
        assert ended.stderr.count("\n") == 1
    none = headrace("design", "catalogue", "example-2025")
    assert none.returncode == 2
    assert none.stderr.startswith("example-2025: cannot read the catalogue")


@pytest.mark.parametrize("options", [(), ("--for-catalogue",)])
def test_schemas_are_for_editors(headrace: Command, options: tuple[str, ...]) -> None:
    ended = headrace("design", "schema", *options)
    schema = json.loads(ended.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"Headrace {'catalogue' if options else 'worksheet'}"


def test_a_quote_fills_in_prices(headrace: Command, tmp_path: Path) -> None:
    listed = headrace("design", "catalogue", "--price-list")
    assert listed.returncode == 0, listed.stderr
    rows = list(csv.DictReader(io.StringIO(listed.stdout)))
    assert {row["price"] for row in rows} == {""}
    disk = next(row for row in rows if row["entry"] == "nearline 16 TB")
    port = next(row for row in rows if (row["entry"], row["field"]) == ("10 GbE", "port_price"))
    disk |= {"price": "287.5", "date": "2026-12-01", "source": "offer 17"}
    port |= {"price": "75"}
    quote = tmp_path / "quote.csv"

    def write() -> None:
        with quote.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    write()
    mine = headrace("design", "catalogue", "--quote", quote, "--toml")
    assert mine.returncode == 0, mine.stderr
    taken = tomllib.loads(mine.stdout)
    bought = next(one for one in taken["disk"] if one["name"] == "nearline 16 TB")
    assert (bought["price"], taken["date"]) == (287.5, "2026-12-01")
    assert bought["source"].endswith("; price: offer 17")
    network = next(one for one in taken["network"] if one["name"] == "10 GbE")
    assert (network["port_price"], network["adapter_price"]) == (75, 130)
    # Spreadsheets write a byte order mark.
    quote.write_text("\ufeff" + quote.read_text())
    assert headrace("design", "catalogue", "--quote", quote, "--toml").stdout == mine.stdout
    disk["price"] = "0x10"
    write()
    refused = headrace("design", "catalogue", "--quote", quote)
    assert "price '0x10': expected a number such as 1234.50" in refused.stderr
    disk["price"] = "287.5"
    rows.append(disk | {"price": "12"})
    write()
    refused = headrace("design", "catalogue", "--quote", quote)
    assert "a second price for it" in refused.stderr
    del rows[-1]
    write()
    quote.write_text(quote.read_text() + '"unbalanced')
    refused = headrace("design", "catalogue", "--quote", quote)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    port["currency"] = "USD"
    write()
    refused = headrace("design", "catalogue", "--quote", quote)
    assert refused.returncode == 2
    assert "currency 'USD': expected EUR" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_currency_is_a_code(headrace: Command) -> None:
    ended = headrace("design", "catalogue", "--set", "currency=Euro")
    assert ended.returncode == 2
    assert 'expected a code of ISO 4217, such as "EUR"' in ended.stderr
