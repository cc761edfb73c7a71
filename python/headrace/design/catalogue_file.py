"""Catalogues as TOML files, those that ship with Headrace, and quotes as CSV files."""

import csv
import io
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from os import PathLike
from pathlib import Path

import msgspec

from headrace import _core
from headrace.design.catalogue import Catalogue
from headrace.design.document_file import DocumentFile, Sets, load_document, toml_names
from headrace.document_io import display_name, read_text, sets_as_texts
from headrace.quantities import number

DEFAULT = "example-2026"
"""The shipped catalogue that is used where none is named."""
_FOLDER = files("headrace.design") / "catalogues"
COLUMNS = ("section", "entry", "field", "price", "currency", "date", "source", "catalogue price")
"""Columns of a price list; `price`, `date` and `source` are to be filled in."""


class LoadedCatalogue(DocumentFile):
    """A catalogue with the origins of its values.

    Examples:
        >>> loaded = hr.design.load_catalogue(sets=["currency=USD"])
        >>> loaded.catalogue.currency, loaded.origin("currency")
        ('USD', '--set currency=USD')
        >>> loaded.answers[0].path, loaded.text.splitlines()[0]
        ('name', 'name = "example 2026"')
        >>> print(loaded.error("currency", "expected EUR"))
        --set currency=USD: expected EUR
    """

    def __init__(self, loaded: _core.Document) -> None:
        super().__init__(loaded)
        catalogue = msgspec.json.decode(loaded.json, type=Catalogue)
        # A disk without a factor of its own fails as those of published fleets.
        disks = (
            disk
            if self._answers[f"disk.{number}.failure_factor"].is_given
            else msgspec.structs.replace(disk, failure_factor=None)
            for number, disk in enumerate(catalogue.disks)
        )
        self.catalogue = msgspec.structs.replace(catalogue, disks=tuple(disks))
        """What can be bought, in SI units."""
        if not re.fullmatch("[A-Z]{3}", catalogue.currency):
            raise self.error("currency", 'expected a code of ISO 4217, such as "EUR"')


def shipped_catalogues() -> tuple[str, ...]:
    """Return the names of the catalogues that ship with Headrace."""
    return toml_names(_FOLDER)


def load_catalogue(path: str | PathLike[str] | None = None, sets: Sets = ()) -> LoadedCatalogue:
    """Load a catalogue.

    Args:
        path: A TOML file, or the name of a shipped catalogue; None: the example catalogue.
        sets: Values that replace those of the file: `{"currency": "USD"}`.

    Raises:
        ScenarioError: The file cannot be read, or something in it is wrong: `FILE:LINE:COLUMN`,
            what was written, what was expected.

    Examples:
        >>> hr.design.load_catalogue().catalogue.currency
        'EUR'
    """
    text = catalogue_source(path)
    if path is None or text is not None:
        return read_catalogue(text or "", f"{path or DEFAULT}.toml", sets)
    return LoadedCatalogue(load_document("catalogue", path, sets))


def catalogue_source(path: str | PathLike[str] | None = None) -> str | None:
    """Return the text of a shipped catalogue, comments included; None if `path` is a file."""
    name = DEFAULT if path is None else str(path)
    if path is not None and (name not in shipped_catalogues() or Path(name).exists()):
        return None
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def read_catalogue(
    text: str, file: str | PathLike[str] = "catalogue.toml", sets: Sets = ()
) -> LoadedCatalogue:
    """Load a catalogue from TOML text; `file` is its name in errors.

    Raises:
        ScenarioError: As `load_catalogue`.
    """
    with sets_as_texts(sets) as texts:
        return LoadedCatalogue(_core.Document.from_text("catalogue", text, file, texts))


def price_list(catalogue: Catalogue) -> str:
    """Return a CSV list of all prices of a catalogue, to be filled in from offers."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for section, entry, field, _, price in _prices(catalogue):
        known = "" if price is None else number(price).replace(",", "")
        rows.writerow((section, entry, field, "", catalogue.currency, "", "", known))
    return text.getvalue()


def quoted_values(catalogue: Catalogue, path: Path) -> list[str]:
    """Return the values of a catalogue that a filled-in price list replaces, as `PATH=VALUE`.

    Rows without a price leave that of the catalogue. The catalogue gets the latest date.

    Raises:
        ValueError: A row is wrong: file and line, what was written, what was expected.
    """
    places = {
        (section, entry, field): (place, price)
        for section, entry, field, place, price in _prices(catalogue)
    }
    values: dict[str, str] = {}
    dates = []
    # Spreadsheets begin files with a byte order mark.
    text = read_text(path, "a price list in CSV").removeprefix("\ufeff")
    rows = csv.DictReader(io.StringIO(text), strict=True)
    if lacking := [name for name in COLUMNS[:5] if name not in (rows.fieldnames or ())]:
        raise ValueError(f"{display_name(path)}: no column {lacking[0]}: expected {COLUMNS}")
    for row in _read_rows(rows, path):
        if not (price := (row["price"] or "").strip()):
            continue
        where = f"{display_name(path)}:{rows.line_num}"
        key = (row["section"], row["entry"], row["field"])
        if key not in places:
            raise ValueError(f"{where}: {' '.join(map(str, key))}: the catalogue has no such price")
        if row["currency"] != catalogue.currency:
            raise ValueError(
                f"{where}: currency {row['currency']!r}: expected {catalogue.currency}, as the"
                " catalogue has it: convert the price, or give all prices and --set currency=CODE"
            )
        if not PRICE.fullmatch(price):
            raise ValueError(f"{where}: price {price!r}: expected a number such as 1234.50")
        place, _ = places[key]
        if values.get(f"{place}.{row['field']}", price) != price:
            raise ValueError(f"{where}: {' '.join(map(str, key))}: a second price for it")
        values[f"{place}.{row['field']}"] = price
        if row.get("source"):
            section, index = place.split(".")
            entry = getattr(catalogue, _SECTIONS[section])[int(index)]
            source = f"{entry.source}; {row['field']}: {row['source']}"
            values[f"{place}.source"] = json.dumps(source, ensure_ascii=False)
        dates.append(row.get("date") or "")
    if latest := max(dates, default=""):
        values["date"] = json.dumps(latest)
    return [f"{path}={value}" for path, value in values.items()]


def _read_rows(rows: "csv.DictReader[str]", path: Path) -> Iterator[dict[str, str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(
            f"{display_name(path)}:{rows.line_num}: {error}: expected CSV with balanced quotes"
        ) from None


PRICE = re.compile(r"\d+(\.\d+)?")
_SECTIONS = {"disk": "disks", "node": "nodes", "shelf": "shelves", "network": "networks"}


def _prices(catalogue: Catalogue) -> Iterator[tuple[str, str, str, str, float | None]]:
    """Yield section, entry, field, path of the entry and price of each price of a catalogue."""
    for section, plural in _SECTIONS.items():
        fields = ("adapter_price", "port_price") if section == "network" else ("price",)
        for index, entry in enumerate(getattr(catalogue, plural)):
            for field in fields:
                yield section, entry.name, field, f"{section}.{index}", getattr(entry, field)
