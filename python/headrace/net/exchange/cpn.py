"""Files of CPN Tools."""

from headrace.net.exchange.cpn_reader import read
from headrace.net.exchange.cpn_writer import write

__all__ = ["read", "write"]
