"""Machines shipped with the package: one folder each, with platform.toml as the source."""
