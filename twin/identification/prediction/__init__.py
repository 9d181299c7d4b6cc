"""Prediction of measured signals over short windows by the machine with its drives."""
