"""Bodies of machines as pictures show them, made from their parameters; none has mass."""
