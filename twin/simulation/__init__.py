"""Simulation: one machine, a batch of machines, a live session, and the recorded trajectory."""
