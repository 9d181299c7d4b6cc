"""Basics without physics: checks of arrays, atomic files, progress bars, optional libraries."""
