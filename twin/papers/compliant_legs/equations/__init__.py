"""Equations of motion of the compliant-leg paper and their solutions."""
