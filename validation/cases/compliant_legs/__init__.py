"""Cases of the compliant-leg paper."""
