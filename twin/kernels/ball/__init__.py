"""A ball that rolls on the platform or flies above it."""
