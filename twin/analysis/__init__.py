"""What a machine's numbers mean for a task: stiffness, sag, modes, stroke, motors."""
