"""Co-simulation units of the Functional Mock-up Interface (FMI) from a machine's kernels."""
