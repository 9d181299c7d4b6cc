"""Trained policies that ship with the package, one .npz file each; `twin.training.load_policy`."""
