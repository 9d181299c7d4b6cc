"""Actions, observations and rewards of the environments."""
