"""Disks, arrays and nodes, as several calculations describe them."""

import re
from typing import Annotated as A

import msgspec

from headrace.commands.parameters import Help, Word
from headrace.commands.values import SIZE
from headrace.design.array_level import MOST_DISKS, array_kind, array_of, parse_draid
from headrace.design.local_space import check_local_file_system
from headrace.design.storage_plan import StoragePlan
from headrace.design.system import Array, Code

DISKS = {"disks": "12", "disk_capacity": "4 TB", "level": "raid6"}
"""Values with which forms begin."""
MIRRORS = {"single": 1, "raid0": 2, "raid1": 2, "raid10": 4}
"""Disks of an array, where its overhead is the same with any number or has a usual one."""


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """Disks, arrays and nodes."""

    disks: A[int | None, Help("Disks of a node, hot spares among them.", example=12)] = None
    disk_capacity: A[
        float | None,
        SIZE,
        Word("--capacity"),
        Help('Capacity of a disk, such as "4 TB".', example="4 TB"),
    ] = None
    level: A[
        str | None,
        Word(metavar="LEVEL"),
        Help(
            "Level of the arrays: single, raid0, raid1, raid5, raid6, raid10 or erasure.",
            example="raid6",
        ),
    ] = None
    data: A[int | None, Help("Data disks of an erasure-coded array.")] = None
    parity: A[int | None, Help("Redundant disks of an erasure-coded array.")] = None
    draid: A[
        str | None,
        Word(metavar="P:Dd:Cc:Ss"),
        Help("dRAID of OpenZFS, such as 2:8d:64c:2s: parity, data, disks, spares."),
    ] = None
    arrays: A[int, Help("Arrays of a node.")] = 1
    spares: A[int, Help("Hot spares of a node.")] = 0
    nodes: A[int | None, Help("Nodes; by default the fewest that copies or code allow.")] = None
    copies: A[int, Help("Copies of each file over nodes.")] = 1
    code: A[
        str | None, Word(metavar="DATA+PARITY"), Help("Erasure code over nodes, such as 8+3.")
    ] = None
    file_system: A[
        str | None,
        Word(metavar="NAME"),
        Help(
            "File system of each node: none, ext4, xfs, ldiskfs or zfs. By default"
            " none, and zfs on a dRAID."
        ),
    ] = None

    def check_counts(self) -> None:
        """Raise ValueError if a number is impossible or absurd."""
        for option, value, least in (
            ("--disks", self.disks, 1),
            ("--arrays", self.arrays, 1),
            ("--spares", self.spares, 0),
            ("--nodes", self.nodes, 1),
            ("--copies", self.copies, 1),
        ):
            if value is not None and not least <= value <= MOST_DISKS:
                raise ValueError(f"{option} {value}: expected {least} to {MOST_DISKS}")

    def over_nodes(self) -> Code | None:
        """Return the code over nodes, if there is one. Raises ValueError if it is malformed."""
        if self.code is None:
            return None
        found = re.fullmatch(r"\s*(\d{1,4})\s*\+\s*(\d{1,4})\s*", self.code)
        if found is None or int(found[1]) < 1 or int(found[2]) < 1:
            raise ValueError(f'--code "{self.code}": expected data and parity such as 8+3')
        return Code(data=int(found[1]), parity=int(found[2]))

    def ideal_array(self) -> Array | None:
        """Return the array by which raw capacity is computed; none: single disks.

        Levels whose overhead is the same with any number of disks need no --disks.

        Raises:
            ValueError: It is impossible, or an option is missing.
        """
        if self.draid is not None:
            self._refuse_level()
            return parse_draid(self.draid)[0]
        if self.level is None and self.data is None and self.parity is None:
            return None
        level = self._level()
        if level == "erasure":
            return array_of(level, (self.data or 0) + (self.parity or 0), self.data, self.parity)
        if self.disks is None and level not in MIRRORS:
            raise ValueError(f"--level {level}: expected --disks as well, the disks of an array")
        return array_of(level, self.disks or MIRRORS[level], self.data, self.parity)

    def plan(self) -> StoragePlan:
        """Return disks and arrays of each node.

        Raises:
            ValueError: It is impossible, or an option is missing.
        """
        self.check_counts()
        if self.disk_capacity is None:
            raise ValueError('--capacity: missing: expected that of a disk, such as "4 TB"')
        code = self.over_nodes()
        if self.draid is not None:
            array, arrays, spares, disks = self._draid(self.draid)
        else:
            array, arrays, spares, disks = self._plain()
        least = max(self.copies, 1 if code is None else code.data + code.parity)
        try:
            local = check_local_file_system(
                self.file_system or ("none" if self.draid is None else "zfs")
            )
        except ValueError as error:
            raise ValueError(f"--file-system {error}") from None
        if self.draid is not None and local not in ("zfs", "none"):
            raise ValueError(
                f"--file-system {local}: a dRAID is part of a ZFS pool: expected zfs or none"
            )
        of_disks = "--disks" if self.draid is None else "--draid"
        return StoragePlan(
            array=array,
            disk_capacity=self.disk_capacity,
            nodes=least if self.nodes is None else self.nodes,
            disks_per_node=disks,
            arrays_per_node=arrays,
            spares_per_node=spares,
            local=local,
            copies=self.copies,
            code=code,
            sources={
                "disk_capacity": "--capacity",
                "nodes": "the fewest that are possible" if self.nodes is None else "--nodes",
                "disks_per_node": of_disks,
                "arrays_per_node": "--level single" if array.kind == "single" else "--arrays",
                "spares_per_node": "--spares" if self.draid is None else "--draid",
                "copies": "--copies",
            },
        )

    def _draid(self, draid: str) -> tuple[Array, int, int, int]:
        """Return the array, arrays, spares and disks of a node."""
        self._refuse_level()
        if self.spares:
            raise ValueError("--spares: expected none with --draid, which has its own: 2s")
        try:
            array, spares = parse_draid(draid)
        except ValueError as error:
            raise ValueError(f"--draid {error}") from None
        disks = array.disks * self.arrays if self.disks is None else self.disks
        return array, self.arrays, spares * self.arrays, disks

    def _plain(self) -> tuple[Array, int, int, int]:
        """Return the array, arrays, spares and disks of a node whose arrays have a level."""
        level = self._level()
        coded = level == "erasure" and self.data is not None and self.parity is not None
        # A node may have more disks than its codes.
        of_code = (self.data or 0) + (self.parity or 0)
        disks = self.disks
        if disks is None:
            if not coded:
                raise ValueError("--disks: missing: expected the disks of a node, such as 12")
            disks = of_code * self.arrays + self.spares
        filled = disks - self.spares
        if filled < 1:
            raise ValueError(
                f"--spares {self.spares}: a node has {disks} disks: expected fewer spares"
            )
        if level == "single":
            return array_of(level, 1, self.data, self.parity), filled, self.spares, disks
        if not coded and filled % self.arrays:
            raise ValueError(
                f"--arrays {self.arrays}: does not divide the {filled} disks that are no spares:"
                " expected a divisor, or another number of spares"
            )
        of_array = of_code if coded else filled // self.arrays
        return array_of(level, of_array, self.data, self.parity), self.arrays, self.spares, disks

    def _level(self) -> str:
        if self.level is not None:
            try:
                return array_kind(self.level)
            except ValueError as error:
                raise ValueError(f"--level {error}") from None
        if self.data is None and self.parity is None:
            raise ValueError(
                "--level: missing: expected a level such as raid6, --data and --parity, or --draid"
            )
        return "erasure"

    def _refuse_level(self) -> None:
        given = {"--level": self.level, "--data": self.data, "--parity": self.parity}
        for option, value in given.items():
            if value is not None:
                raise ValueError(f"{option}: expected none with --draid, which has its own")
