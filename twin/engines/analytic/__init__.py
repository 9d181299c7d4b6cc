"""The analytic engine: the reference behind the protocol of engines."""
