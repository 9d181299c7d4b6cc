"""Responses over time: free and locked motions, load cases, occupants."""
