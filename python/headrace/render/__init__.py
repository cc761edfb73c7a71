"""Results on a terminal, in notebooks, pages, pictures and CSV files. No module knows a kind."""
