"""How catalogues of older versions become those of this one; one file for each step."""
