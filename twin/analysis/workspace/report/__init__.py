"""Workspace analysis as figures, table, JSON content and page."""
