"""URDF documents of a machine."""
