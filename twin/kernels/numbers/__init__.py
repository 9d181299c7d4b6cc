"""Numbers that kernels take in place of floats: lanes of several states, values with derivatives."""
