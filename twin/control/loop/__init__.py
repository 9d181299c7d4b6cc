"""The closed loop: handover between controllers, safe stop, records."""
