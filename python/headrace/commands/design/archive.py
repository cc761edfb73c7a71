"""Cost of an archive over years."""

from typing import Annotated as A

import msgspec

from headrace.commands.design.storage import Storage
from headrace.commands.parameters import Form, Help, Word
from headrace.commands.values import SIZE
from headrace.design import archive
from headrace.design.figure import Figure
from headrace.design.growth import MOST_YEARS
from headrace.design.system import Code

PRICE = Word(metavar="PRICE")


class Archive(msgspec.Struct, frozen=True, kw_only=True):
    """Compare the cost of an archive: a code over servers, tape, and an object store.

    Each alternative appears if its prices are given. Example: --usable "500 TB" --years 5
    --node-price 5000 --disk-price 480 --cartridge-price 90 --drive-price 4500 --library-price 9000
    --object-price 4.
    """

    usable: A[float, SIZE, Help('Data of the archive, such as "500 TB".')]
    years: A[
        float,
        Word(metavar="YEARS"),
        Help("Years of operation.", least=1 / 12, most=MOST_YEARS, example=5),
    ] = 5.0
    code: A[
        str,
        Word(metavar="DATA+PARITY"),
        Help("Erasure code over nodes, such as 8+3.", example="8+3"),
    ] = "8+3"
    disks: A[int, Help("Disks of a node, hot spares among them.", least=1, example=12)] = 12
    disk_capacity: A[
        float, SIZE, Word("--capacity"), Help("Capacity of a disk.", example="24 TB")
    ] = 24e12
    disk_price: A[float | None, PRICE, Help("Price of a disk.", least=0, example=480)] = None
    node_price: A[
        float | None,
        PRICE,
        Help("Price of a node without disks.", least=0, example=5000),
    ] = None
    electricity: A[float, PRICE, Help("Price of a kilowatt-hour.", least=0, example=0.2)] = 0.0
    cartridge: A[
        float, SIZE, Help("Capacity of a cartridge; LTO-9 has 18 TB.", example="18 TB")
    ] = archive.TAPE.cartridge
    cartridge_price: A[float | None, PRICE, Help("Price of a cartridge.", least=0, example=90)] = (
        None
    )
    tape_copies: A[int, Help("Copies on tape.", least=1, example=2)] = archive.TAPE.copies
    drives: A[int, Help("Tape drives.", least=1, example=2)] = archive.TAPE.drives
    drive_price: A[float, PRICE, Help("Price of a tape drive.", least=0, example=4500)] = 0.0
    library_price: A[float, PRICE, Help("Price of a tape library.", least=0, example=9000)] = 0.0
    object_price: A[
        float | None,
        PRICE,
        Help("Price of a terabyte and month in an object store.", least=0, example=4),
    ] = None
    currency: A[str, Word(metavar="NAME"), Help("Name of the currency in the table.")] = ""

    form = Form(
        "Archive",
        ("usable", "years", "node_price", "disk_price", "cartridge_price", "object_price"),
        {
            "usable": "500 TB",
            "node_price": "5000",
            "disk_price": "480",
            "cartridge_price": "90",
            "object_price": "4",
        },
    )

    def figures(self) -> tuple[Figure, ...]:
        """Return the cost of each alternative. Raises ValueError, which names the options."""
        servers = tape = None
        if self.node_price is not None and self.disk_price is not None:
            code = Storage(code=self.code).over_nodes() or Code(1, 0)
            servers = archive.Servers(
                code=code,
                disks=self.disks,
                disk_capacity=self.disk_capacity,
                disk_price=self.disk_price,
                node_price=self.node_price,
                electricity=self.electricity,
            )
        if self.cartridge_price is not None:
            tape = archive.Tape(
                cartridge=self.cartridge,
                cartridge_price=self.cartridge_price,
                drives=self.drives,
                drive_price=self.drive_price,
                library_price=self.library_price,
                copies=self.tape_copies,
            )
        if servers is None and tape is None and self.object_price is None:
            raise ValueError(
                "no alternative: expected --node-price and --disk-price, --cartridge-price, or"
                " --object-price"
            )
        return archive.archive(self.usable, self.years, servers, tape, self.object_price)
