"""Drives on a test bench."""
