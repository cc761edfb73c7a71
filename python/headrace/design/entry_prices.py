"""Prices of the entries of a catalogue by name."""

from headrace.design.catalogue import Catalogue


def entry_prices(catalogue: Catalogue) -> dict[str, float | None]:
    """Return the price of each entry by its name, in the catalogue's currency.

    A network's price is that of an adapter and a port of a switch. None is a price that the
    catalogue does not give.
    """
    prices = {entry.name: entry.price for entry in catalogue.disks}
    prices |= {entry.name: entry.price for entry in catalogue.nodes}
    prices |= {entry.name: entry.price for entry in catalogue.shelves}
    for network in catalogue.networks:
        parts = (network.adapter_price, network.port_price)
        known = [part for part in parts if part is not None]
        prices[network.name] = sum(known) if len(known) == len(parts) else None
    return prices
