"""Crank, elbow and slender rod."""
