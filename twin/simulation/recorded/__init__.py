"""Recorded motions: their data, files, tables, figures and pictures in notebooks."""
