"""Legs with a viscoelastic element: the compliant-leg paper's problems, in its own shape.

Independent of the compiled kernels, in numpy and, for one leg, sympy; derivation and figures in
docs/reproductions.md.

Reference: compliant-leg paper, "Equations of motion & forward dynamics for a Stewart platform with
viscoelastic compliant legs".
"""
