"""Predictive control at every period: rollouts in lanes, shooting and its backward pass."""
