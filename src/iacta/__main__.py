"""`python -m iacta` is the command `iacta`."""

from iacta.cli import main

main()
