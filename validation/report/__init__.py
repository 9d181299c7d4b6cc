"""Validation report: content, page, figures."""
