"""`python -m dataservice`: the command where the scripts' folder is not on the path."""

from dataservice.cli.main import main

if __name__ == "__main__":
    main()
