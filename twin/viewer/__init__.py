"""Looking at machines and motions: plots and drawings; plotting libraries load on first use."""
