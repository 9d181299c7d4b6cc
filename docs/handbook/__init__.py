"""Generated pages of the documentation, from machines, report, docstrings and commands."""
