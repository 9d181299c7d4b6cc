"""Equations of the legs, one folder for each kind, chosen by the type of the constants."""
