"""`python -m iacta` is the command `iacta`."""

from iacta_command import main

main()
