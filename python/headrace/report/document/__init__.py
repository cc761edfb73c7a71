"""Documents for readers: content in blocks, written as HTML and PDF."""
