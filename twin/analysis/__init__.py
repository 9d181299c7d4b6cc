"""Analyses of a machine: workspace, payload, feasibility, frequency, stiffness, tuning."""
