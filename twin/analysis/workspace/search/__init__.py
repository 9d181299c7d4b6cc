"""Searches for the boundary of a workspace: rays, random walks, interior point."""
