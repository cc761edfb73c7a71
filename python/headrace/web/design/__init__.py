"""Drafts, fields, checks, figures and calculations, which pages and API of designs share."""
