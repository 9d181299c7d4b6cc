"""Frequency responses of loops and of machines on springs."""
