"""Results that hang on the last digits of a power or of another number that programs round differently."""

from pathlib import Path

import pytest

from addin.formulas.lexer import tokens
from addin.workbook.calculation.engine.process import EngineFailedError
from addin.workbook.calculation.proving.jumping import JUMPS
from addin.workbook.calculation.reading.noise import Move, with_powers_as_calls, written
from addin.workbook.calculation.reading.oddities import NEARLY_WHOLE
from addin.workbook.calculation.reading.parsing import CallNode, GroupNode, parsed
from addin.workbook.calculation.single import read_single, worked_out
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

CALL = '=_xldudf_DS_SIGNAL("us-cpi")'
CELLS = {"A1": CALL, "B1": "=A1*0", "E1": 1, "E2": 8, "E3": 9, "F1": "one", "F2": "eight", "F3": "nine"}


async def _refreshed(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


@pytest.mark.parametrize(
    "formula",
    [
        "INT(4^1.5+B1)",
        "TRUNC(POWER(4,1.5)+B1)",
        "MOD(4^1.5+B1,8)",
        "QUOTIENT(4^1.5+B1,8)",
        "CEILING(100^1.5+B1,1)",
        "ROUND(4^1.5/16+B1,0)",
        "IF(4^1.5+B1>=8,1,2)",
        "IF(MULTINOMIAL(1,2,3)+B1=60,1,2)",
        "VLOOKUP(4^1.5+B1,E1:F3,2,TRUE)",
        'IFERROR(MATCH(4^1.5+B1,E1:E3,0),"none")',
        'LEN(REPT("x",4^1.5+B1))',
        "BITAND(4^1.5+B1,8)",
        "ISEVEN(4^1.5+B1)",
        "INT(8^(1/3)*8^(1/3)/4^1.5*2+B1)",
        "INT(64^(1/3)/8^(1/3)+B1)",
        "INT(LOG(1000+B1,10))",
        "INT(1%*100*4^1.5+B1)",
        "INT(EXP(LN(10))+B1)=10",
        "COUNTIF(E1:E3,4^1.5+B1)",
        "SWITCH(4^1.5+B1,8,1,2)",
        "LET(x,4^1.5+B1,INT(x))",
        "MOD(10+B1,0.1)",
        "MOD(E1+B1,0.1)",
        "MOD(0.1+0.2+B1,0.1)",
        "QUOTIENT(0.6+B1,0.2)",
        "MROUND(6.05+B1,0.1)",
        "MROUND(1.35+B1,0.1)",
        "FLOOR(0.7+B1,0.1)+B1=0.7",
        "FLOOR(0.69+0.01+B1,0.1)",
        "SUMPRODUCT(MOD(E1:E3+B1,0.1))",
        "IF(MOD(10+B1,0.1)<0.05,1,2)",
        "MOD(MOD(10+B1,0.1),0.1)",
        '4^1.5+B1&""',
    ],
)
async def test_what_jumps_at_the_last_digits_of_a_power_is_left(service: EmbeddedService, tmp_path: Path, formula: str):
    stored = formula.replace("SWITCH", "_xlfn.SWITCH").replace("BITAND", "_xlfn.BITAND")
    stored = stored.replace("LET(x", "_xlfn.LET(_xlpm.x").replace("INT(x", "INT(_xlpm.x")
    book = make_book(tmp_path / "book.xlsx", CELLS | {"H5": f"={stored}"})
    assert [cell.unproven for cell in (await _refreshed(service, book)).unproven] == [JUMPS]
    assert values(book, "Sheet1", "H5") == [None]


async def test_what_jumps_in_another_cell_is_left_too(service: EmbeddedService, tmp_path: Path):
    chain = {"G1": "=4^1.5+B1", "G2": "=G1", "G3": "=INT(G2)", "G4": "=G3*2", "G5": "=G2*2", "G6": "=SUM(E1:E3,G2)"}
    book = make_book(tmp_path / "book.xlsx", CELLS | chain)
    assert {cell.cell[1]: cell.unproven for cell in (await _refreshed(service, book)).unproven} == {
        (3, 7): NEARLY_WHOLE,
        (4, 7): JUMPS,
    }
    assert values(book, "Sheet1", "G2", "G5", "G6") == pytest.approx([8, 16, 26], rel=1e-12)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("INT(10^2+B1)", 100),
        ("MOD(2^10+B1,1000)", 24),
        ("IF(3^2+B1=9,1,2)", 1),
        ("INT(4^1.6+B1)", 9),
        ("ROUND(1000*1.1^(1/3)+B1,2)", 1032.28),
        ("ROUND(PMT(0.05,10,-1000+B1),2)", 129.50),
        ("INDEX(E1:E3,2^1+B1)", 8),
        ("INT(YEARFRAC(DATE(2000,1,1),DATE(2020,1,1)+B1))", 20),
        ('TEXT(2^0.5+B1,"0.00")', "1.41"),
        ("1.0001^(1/12)-1+B1", 1.0001 ** (1 / 12) - 1),
        ("INT(-2^2+B1)", 4),
        ("INT(SQRT(49+B1))", 7),
        ("MOD(10+B1,3)", 1),
        ("MOD(10.5+B1,0.25)", 0),
        ("MOD(-7.75+B1,0.5)", 0.25),
        ("MOD(45000.3+B1,1)", 0.3),
        ("MROUND(7.5+B1,3)", 9),
        ("MROUND(1.23+B1,0.1)", 1.2),
        ("CEILING(12.31+B1,0.05)", 12.35),
        ("FLOOR(12.34+B1,0.05)", 12.3),
        ("CEILING(12+B1,4)", 12),
        ("QUOTIENT(7.4+B1,2.33)", 3),
        ("IF(MOD(ROW(A6)+B1,2)=0,1,2)", 1),
        ("(E2/E2)^(1/5)-1+B1", 0),
    ],
)
async def test_what_does_not_jump_is_worked_out(service: EmbeddedService, tmp_path: Path, formula: str, value):
    book = make_book(tmp_path / "book.xlsx", CELLS | {"H5": f"={formula}"})
    assert (await _refreshed(service, book)).unproven == []
    [shown] = values(book, "Sheet1", "H5")
    assert shown == (value if isinstance(value, str) else pytest.approx(value, rel=1e-8))


@pytest.mark.parametrize("formula", ["=INT(4^1.5)", '=IF(DS.SIGNAL("x")>0,MULTINOMIAL(1,2,3)=60,0)'])
async def test_a_single_formula_that_jumps_is_told_and_not_shown(formula: str):
    async def ask(calls):
        return [1.0 for _ in calls]

    with pytest.raises(EngineFailedError, match=JUMPS):
        await worked_out(read_single(formula, "DS"), 1.8e9, ask)


@pytest.mark.parametrize(
    ("formula", "calls"),
    [
        ("-2^2", "POWER(-2,2)"),
        ("1-2^-2^3%*4", "1-POWER(POWER(2,-2),3%)*4"),
        ("2^(1+3^4)", "POWER(2,(1+3^4))"),
        ("1<2^3&4", "1<POWER(2,3)&4"),
        ("2*-3^F(1)(2)", "2*POWER(-3,F(1)(2))"),
    ],
)
def test_powers_take_what_spreadsheets_take(formula: str, calls: str):
    assert _text(with_powers_as_calls(parsed(tokens(formula)))) == calls


def _text(tree) -> str:
    parts = []
    for node in tree:
        match node:
            case CallNode(name, arguments):
                parts.append(f"{name}({','.join(map(_text, arguments))})")
            case GroupNode(inner):
                parts.append(f"({','.join(map(_text, inner))})")
            case _:
                parts.append(node.text)
    return "".join(parts)


def test_two_steps_are_never_moved_alike():
    text = written("\x02/\x02", "S!A1", Move.UP)
    one, other = text.split("/")
    assert one != other
