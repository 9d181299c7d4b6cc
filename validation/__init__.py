"""Validation: holds the engines and the analytic reference against each other, with numbers."""
