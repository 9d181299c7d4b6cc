"""Physics of the four environments against independent equations."""
