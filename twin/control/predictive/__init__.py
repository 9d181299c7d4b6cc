"""Predictive controllers: they plan ahead with the machine's model and limits, again and again."""
