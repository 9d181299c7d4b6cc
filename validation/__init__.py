"""Validation: compares the engines with the analytic reference, in numbers."""
