"""What the pages and the API of designs share: drafts, fields, checks, figures, calculations."""
