"""Small dense linear algebra in place: Cholesky and LU."""
