"""The program `dataservice`: run the embedded service, fill it, and hand out keys."""

from __future__ import annotations

from dataservice.terminal.command_group import CommandEntry, LazyGroup, VersionOption, new_group

COMMANDS = {
    "serve": CommandEntry("dataservice.cli.serve:serve", "Answer the whole API until Ctrl-C."),
    "import": CommandEntry(
        "dataservice.cli.data:import_", "Replace the service's data with a directory's; keys and their usage are kept."
    ),
    "sample": CommandEntry(
        "dataservice.cli.data:sample", "Write a small made-up data set to import: the same for the same day."
    ),
    "key": CommandEntry("dataservice.cli.key:app", "Create, list and revoke API keys."),
}


class _Commands(LazyGroup):
    table = COMMANDS


app = new_group(cls=_Commands, add_completion=True)


@app.callback()
def root(version: VersionOption = False) -> None:
    """The Data Service on your own machine: its whole API on one database.

    \b
    In three steps, with made-up data:
      dataservice sample made-up
      export DATA_SERVICE_API_KEY=$(dataservice key create --tier pro)
      dataservice serve --data made-up
    """


def main() -> None:
    """Run the program."""
    app(prog_name="dataservice")


if __name__ == "__main__":
    main()
