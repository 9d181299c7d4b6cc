"""Cases of the driving simulator's paper."""
