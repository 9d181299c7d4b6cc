"""The driving simulator as differential-algebraic equations, and the exact model beside it.

Small-angle kinematics and dynamics as the paper has them, exact kinematics in closed form, and the
exact equations of motion derived with sympy. Derivations in docs/reproductions.md.

Reference: driving simulator paper.
"""
