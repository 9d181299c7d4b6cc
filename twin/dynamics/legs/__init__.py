"""What each kind of leg answers at its tip: effective masses along directions, and a bias force."""
