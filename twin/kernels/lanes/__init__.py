"""Batches of states in lanes: several states at once through the kernels of one state."""
