"""Home: where the machine is at rest, what its legs hold there, and what they do not."""
