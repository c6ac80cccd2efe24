"""How much faster iacta is than the plain versions of the same computations."""
