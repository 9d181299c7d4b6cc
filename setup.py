"""Packages of the distribution: `twin`, and the outer folders that become packages inside it."""

from setuptools import find_packages, setup

OUTER = ("assets", "envs", "validation")
"""Folders beside `twin` that are installed as `twin.assets`, `twin.envs`, `twin.validation`."""

found = find_packages(include=["twin", "twin.*"])
outer = find_packages(include=[pattern for name in OUTER for pattern in (name, f"{name}.*")])

setup(
    packages=[*found, *(f"twin.{package}" for package in outer)],
    package_dir={"twin": "twin", **{f"twin.{name}": name for name in OUTER}},
)
