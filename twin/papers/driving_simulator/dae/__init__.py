"""Small-angle differential-algebraic equations of the driving simulator paper."""
