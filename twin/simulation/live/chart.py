"""A chart of a live run: which quantities it shows, in which unit, and within which limits."""

from __future__ import annotations

from typing import NamedTuple


class Chart(NamedTuple):
    """Curves over time that belong together."""

    name: str
    """key of the chart's values in the history"""
    title: str
    """as shown, without the unit"""
    unit: str
    """of the numbers shown"""
    series: tuple[str, ...]
    """names of the curves, in the order of the values"""
    scale: float = 1.0
    """numbers shown per value kept, which is in SI units"""
    setpoint: tuple[str, ...] = ()
    """names of the curves that are wanted rather than measured, drawn dashed; the k-th has the
    colour of the k-th measured one"""
    limits: tuple[float, ...] = ()
    """values kept at which a horizontal line is drawn"""
    logarithmic: bool = False
    least: float = 0.0
    """smallest distance from zero that the chart reaches, so that noise does not fill it; none
    where curves do not rest at zero"""
