"""`python -m addin`: the command where the scripts' folder is not on the path."""

from addin.cli.main import main

main()
