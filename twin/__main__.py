"""`python -m twin` is the console command `twin`."""

from twin.cli import main

main()
