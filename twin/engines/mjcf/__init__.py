"""MJCF documents of a machine."""
