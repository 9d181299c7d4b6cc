"""A platform.toml as a file: reading it, its configurations, its description and templates."""
