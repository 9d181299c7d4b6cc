"""Step responses and tuning."""
