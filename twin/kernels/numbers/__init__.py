"""Numbers that kernels take in place of floats: lanes of states, values with derivatives."""
