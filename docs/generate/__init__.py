"""What the pages say of functions, settings and commands, made from the code that says it first.

A generated part stands in a page between two marks; everything around them is written by hand. The command
`python -m docs.generate` writes all parts anew, and a test compares them with what is committed, so that the pages can
be read without building them and are never out of date.
"""

__all__: list[str] = []
