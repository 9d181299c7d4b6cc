"""Geometry of the legs: one file per kind, and `drive` that chooses by the type of the constants."""
