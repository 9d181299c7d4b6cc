"""Legs with a viscoelastic element: the compliant-leg paper's problems, in its own shape."""
