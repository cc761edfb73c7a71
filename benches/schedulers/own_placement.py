"""A placement of one server a file, in turn."""

import headrace


class InTurn(headrace.Placement):
    def strips(self, file: int) -> list[int]:
        """The server of a file."""
        return [file % self.targets]
