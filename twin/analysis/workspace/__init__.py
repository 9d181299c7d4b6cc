"""Workspace of a machine: reach, dexterity and stiffness."""
