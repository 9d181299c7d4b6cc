"""Reproductions of the publications: nothing but the validation uses them."""
