"""Catalogues that a user can choose: the shipped ones, and those that the user has uploaded."""

from headrace.design.catalogue_file import (
    DEFAULT,
    LoadedCatalogue,
    catalogue_source,
    read_catalogue,
    shipped_catalogues,
)
from headrace.web.design.drafts import DraftError, Drafts
from headrace.web.settings import Settings

OWN = "own:"
"""Beginning of the name of an uploaded catalogue."""


def catalogue_names(settings: Settings, owner: str) -> dict[str, str]:
    """Return what a user can choose: names with their titles."""
    shipped = {key: f"{key} (shipped)" for key in sorted(shipped_catalogues(), key=DEFAULT.__ne__)}
    own = {f"{OWN}{one.name}": one.name for one in Drafts(settings, "catalogues").drafts(owner)}
    return shipped | own


def catalogue_text(settings: Settings, owner: str, name: str) -> str:
    """Return the text of a catalogue. Raises DraftError."""
    if name.startswith(OWN):
        return Drafts(settings, "catalogues").text(owner, name.removeprefix(OWN))
    if name not in shipped_catalogues():
        raise DraftError(f"there is no catalogue {name}", 404)
    return catalogue_source(name) or ""


def open_catalogue(settings: Settings, owner: str, name: str) -> LoadedCatalogue:
    """Load a catalogue. Raises DraftError or ScenarioError."""
    return read_catalogue(catalogue_text(settings, owner, name), f"{name.removeprefix(OWN)}.toml")


def add_catalogue(settings: Settings, owner: str, name: str, text: str) -> str:
    """Save an uploaded catalogue and return its name. Raises DraftError or ScenarioError."""
    read_catalogue(text, f"{name}.toml")
    return OWN + Drafts(settings, "catalogues").create(owner, name, text)
