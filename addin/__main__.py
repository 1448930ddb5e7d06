"""`python -m addin`: the command where the scripts' folder is not on the path."""

from addin.cli.main import main

if __name__ == "__main__":
    main()
