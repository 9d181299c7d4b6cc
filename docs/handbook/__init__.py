"""What the documentation's generated pages are made of: machines, report, docstrings, commands."""
