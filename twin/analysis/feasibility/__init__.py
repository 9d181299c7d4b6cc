"""Tasks against a machine: mobility, required stroke, motor requirement."""
