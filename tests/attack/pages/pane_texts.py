"""Texts of every kind through the pane's formulas, forms and repairs, beside a reader of formulas that is not ours.

`python -m tests.attack.pages.pane_texts --steps 100000` is the long run; the suite runs a short one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from openpyxl.formula.tokenizer import Token, Tokenizer

from addin.excel.assets import STATIC
from tests.addin.excel.parts.chromium import Chromium, Tab, executable
from tests.attack.parts.told import Told, conclude

PIECES = [
    *"\"'=+-@&,;()[]{}!#:*/\\ \t\n\r<>^%$|",
    *("A1", "DS.SIGNAL(", "_xldudf_DS_SIGNAL(", "WEBSERVICE(", '""', "''", "1e5", "TRUE", "#REF!", "x" * 300),
    *("😀" * 130, "＝", "\u202e", "\u2067", "\u200f", "é", "us-cpi", "<script>", "javascript:"),
]
FORMULAS = """(texts) => texts.map((text) => {
  const kinds = [{ type: "string" }, { type: "any" }];
  const typed = formula.asTyped(text);
  return [
    formula.formulaOf("DS", "SIGNAL", [{ text }, "end"], kinds),
    formula.callOf("SIGNAL", [{ text }, "end"], kinds),
    formula.callOf("SIGNAL", ["end", typed], kinds),
    ["string", "any"].map((type) => formula.formulaOf("DS", "SIGNAL", [typed, "end"], [{ type }])),
  ];
})"""
REPAIRS = "(formulas) => formulas.map(formulasAsEntered('DS'))"


def a_text(walk: random.Random) -> str:
    return "".join(walk.choices(PIECES, k=walk.randint(1, 8)))


def texts_of(formula: str) -> list[str]:
    """The arguments of a call of DS.SIGNAL with texts only; raises `AssertionError` for any other formula."""
    tokens = Tokenizer(formula).items
    calls = [token.value for token in tokens if token.type == Token.FUNC and token.subtype == Token.OPEN]
    assert calls == ["DS.SIGNAL("], formula
    arguments = [""]
    for token in tokens[1:-1]:
        if token.type == Token.SEP:
            arguments.append("")
        elif token.type == Token.OPERAND:
            assert token.subtype == Token.TEXT, formula
            piece = token.value[1:-1].replace('""', '"')
            assert len(piece.encode("utf-16-le")) <= 510, formula
            arguments[-1] += piece
        else:
            assert (token.type, token.value) == (Token.OP_IN, "&"), formula
    return arguments


def attack(tab: Tab, walk: random.Random, steps: int) -> None:
    """Send `steps` texts through the page; raises `AssertionError` with the first that becomes anything but text."""
    texts = [a_text(walk) for _ in range(steps)]
    for text, (formula, call, typed_call, typed) in zip(texts, tab.evaluate(FORMULAS, texts), strict=True):
        assert texts_of(formula) == [text, "end"], ascii(text)
        assert call == ["SIGNAL", text, "end"], ascii(text)
        rest = [str(argument).strip() for argument in typed_call[2:]]
        assert rest == ([text.strip()] if text.strip() else []), ascii(text)
        for each in typed if text.strip() else []:
            assert [argument.strip() for argument in texts_of(each)] == [text.strip(), "end"], ascii(text)
    quoted = ['=DS.SIGNAL("' + text.replace('"', '""') + '")' for text in texts]
    damaged = [formula.replace("=DS.", r"='C:\it''s\A.XLAM'!_xldudf_DS_", 1) for formula in quoted]
    assert tab.evaluate(REPAIRS, quoted) == quoted
    assert tab.evaluate(REPAIRS, damaged) == quoted


def prepare(tab: Tab) -> None:
    """Load the scripts under attack."""
    formula = (STATIC / "taskpane/data/formula.js").read_text(encoding="utf-8")
    tab.evaluate(
        """(source) => import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })))
          .then((module) => { globalThis.formula = module; })""",
        formula,
    )
    tab.load_module(STATIC / "workbook/formulas.js")


def main() -> None:
    """Run as long as asked, and print what was done."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--steps", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    program = executable()
    assert program is not None, "no Chromium here"
    walk, begun, browser = random.Random(chosen.seed), time.monotonic(), Chromium(program)
    with browser.page() as tab:
        prepare(tab)
        for _ in range(0, chosen.steps, 1_000):
            attack(tab, walk, min(1_000, chosen.steps))
    browser.close()
    sys.stdout.write(f"{chosen.steps:,} texts, none became anything but text; {time.monotonic() - begun:.0f} s\n")
    conclude(Told(chosen.steps))


if __name__ == "__main__":
    main()
