"""Parts of a mechanism: bodies, joints and shapes, as legs and engines describe them."""
