"""Outcomes of validation cases as tests look at them."""


def failed(measures):
    """Return the measures that fail, with value and tolerance."""
    return [(m.name, m.value, m.tolerance) for m in measures if m.verdict == "fail"]


def failed_names(measures):
    """Return the names of the measures that fail."""
    return [name for name, _, _ in failed(measures)]
