"""One lexer reads all formulas: no text is lost, and a shape leaves out what the lexer calls a reference."""

from hypothesis import given
from hypothesis import strategies as st

from addin.formulas.areas import area_of
from addin.formulas.lexer import is_readable, tokens
from addin.formulas.shape import shape_of

PIECES = st.sampled_from(
    (
        *("A1", "$B$2:C9", "D:D", "5:6", "'My ''own'' sheet'!C3", "Other!B2", "[1]Other!B2", "XFE1", "LOG10(", "SUM("),
        *(
            "_xldudf_DS_SIGNAL(",
            "'C:\\DS.XLAM'!DS.X(",
            "Sales[[#Totals],[Net '[sum']]",
            "[@Price]",
            "Rate",
            "Q20240331",
        ),
        *(
            '"a ""b"" A1"',
            "#N/A",
            "#REF!",
            "1.5E-3",
            "50",
            "%",
            "+",
            "-",
            "&",
            "<>",
            ",",
            ";",
            "{",
            "}",
            "(",
            ")",
            ":",
            " ",
        ),
        *("#", "@", "!", "'", '"', "[", "]", "\\", "€", "\n"),
    )
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_the_tokens_of_any_text_are_the_text(formula):
    assert "".join(token.text for token in tokens(formula)) == formula


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_shape_leaves_out_the_references_that_the_lexer_finds(formula):
    read = tokens(formula)
    if not is_readable(read):
        return
    found = []
    for token, before in zip(read, (None, *read), strict=False):
        # Behind these it may be a corner of a larger area, or a cell of another file.
        is_part = before is not None and (
            before.text.endswith((":", "]", "!", "$")) or before.kind in ("number", "name")
        )
        if token.kind == "reference" and area_of(token.text) is not None and not is_part:
            found.append(token.text)
    left_out = shape_of(formula)[1]
    assert [each for each in left_out if each in found] == left_out
    assert set(found) <= set(left_out)


def test_kinds_are_told_apart():
    kinds = {
        "A1": "reference",
        "'x y'!$A$1:B2": "reference",
        "LOG10(": "call",
        "'C:\\DS.XLAM'!_xldudf_DS_SIGNAL(": "call",
        "@Sheet1!DS.X(": "call",
        "Sales[[#Totals],[Price]]": "table",
        "[2]": "table",
        "TRUE": "name",
        "Sheet1!Rate": "name",
        ".5e-3": "number",
        "#DIV/0!": "error",
        "!": "other",
        '"no end': "other",
        "'no end": "other",
    }
    assert {text: [token.kind for token in tokens(text)] for text in kinds} == {
        text: [kind] for text, kind in kinds.items()
    }
