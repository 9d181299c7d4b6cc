"""Live runs of a machine: driven by hand or by motions, pushed, compared, recorded, watched."""
