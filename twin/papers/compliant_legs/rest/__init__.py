"""Machine with viscoelastic legs at rest: forces, equilibrium, small motions, modes."""
