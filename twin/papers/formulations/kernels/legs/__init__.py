"""Legs of the extended model: joint coordinates, tip, mass and bias of each kind."""
