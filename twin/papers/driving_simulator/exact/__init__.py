"""Exact dynamics of a plate on pillars, derived with sympy."""
