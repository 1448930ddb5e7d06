"""The parts of the pages that are generated from the code: functions, settings, commands, the picture of the house.

A generated part stands between two marks in its page; people write the rest. `python -m docs.generate` regenerates all
parts. A test compares them with what is committed, so the pages are never out of date and can be read without a build.
"""

__all__: list[str] = []
