"""Workspace of a machine: where it can be, how well it moves there, how stiff it is."""
