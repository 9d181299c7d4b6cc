"""Compiled equations of the five formulations."""
