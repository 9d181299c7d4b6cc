"""Bodies, joints and loops of a machine, as the engines need them."""
