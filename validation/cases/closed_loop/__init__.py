"""Closed loops, drives and safe stops."""
