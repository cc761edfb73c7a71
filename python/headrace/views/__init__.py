"""What each kind of result shows, as blocks: a file a kind, which knows no place to show them."""
