"""Migrations of catalogues of older versions, one file for each step."""
