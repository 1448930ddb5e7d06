"""`addin` as it is where no calculation engine is installed."""

import sys


def main() -> None:
    """Run the command without the engines."""
    sys.modules.update(formulon=None, formualizer=None)  # type: ignore[arg-type]
    from addin.cli.main import main as addin

    addin()
