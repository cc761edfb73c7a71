"""Views: blocks that each kind of result shows. A file a kind, which knows no place to show it."""
