"""A platform.toml from the numbers of a data sheet, with estimates for what it leaves out."""
