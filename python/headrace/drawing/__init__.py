"""Layout of graphs, and diagrams of nets as SVG, from plain structures."""
