"""Signed lines: whatever is altered, removed, added or moved is noticed, and named."""

from pathlib import Path

import orjson
from hypothesis import given
from hypothesis import strategies as st

from addin.workbook.audit.chain import START, block_lines, hash_in, read_chain
from addin.workbook.audit.keys import fingerprint, is_signed, own_key


def lines_of(folder: Path, *sizes: int) -> list[bytes]:
    """The lines of blocks with so many numbers each."""
    key, lines, previous = own_key(folder / "signing.key"), [], START
    for block, size in enumerate(sizes):
        numbers = [{"sheet": "Sheet1", "cell": f"A{row}", "value": row / 7} for row in range(1, size + 1)]
        begin = {"audit": "0" * 16, "book": f"{block}.xlsx", "numbers": size}
        lines += block_lines(begin, numbers, previous=previous, public_key=key.public, sign=key.sign)
        previous = hash_in(lines[-1])
    return lines


def problems_of(lines: list[bytes]) -> list[str]:
    chain = read_chain(lines, is_signed=is_signed)
    return chain.problems + (["unfinished"] if chain.unfinished else [])


def test_blocks_are_read_as_they_were_written(tmp_path: Path):
    chain = read_chain(lines_of(tmp_path, 3, 0, 2), is_signed=is_signed)
    assert (chain.problems, chain.unfinished) == ([], 0)
    assert [len(block.numbers) for block in chain.blocks] == [3, 0, 2]
    assert [number["value"] for number in chain.blocks[0].numbers] == [1 / 7, 2 / 7, 3 / 7]


def test_an_altered_line_is_named_with_its_cell(tmp_path: Path):
    lines = lines_of(tmp_path, 3)
    lines[2] = lines[2].replace(b'"value":0.2857142857142857', b'"value":0.2857142857142858')
    assert problems_of(lines) == ["line 3 was altered (Sheet1!A2)"]


def test_whoever_alters_a_line_and_all_hashes_after_it_cannot_sign_them(tmp_path: Path):
    lines = lines_of(tmp_path / "mine", 2)
    other = own_key(tmp_path / "other" / "signing.key")
    numbers = [{"sheet": "Sheet1", "cell": "A1", "value": 99.0}]
    forged = block_lines({"audit": "0" * 16}, numbers, previous=START, public_key=other.public, sign=other.sign)
    mine = read_chain(lines, is_signed=is_signed).blocks[0].public_key
    chain = read_chain(forged, is_signed=is_signed)
    assert fingerprint(chain.blocks[0].public_key) != fingerprint(mine), "another key is another name"
    forged[-1] = forged[-1].replace(other.public.encode(), mine.encode())
    assert "the signature in line 3 is not that of its lines" in read_chain(forged, is_signed=is_signed).problems


@given(data=st.data())
def test_any_change_of_the_lines_is_noticed(tmp_path_factory, data: st.DataObject):
    folder = tmp_path_factory.getbasetemp() / "chain"
    lines = lines_of(folder, 2, 3)
    at = data.draw(st.integers(0, len(lines) - 1), label="line")
    match data.draw(st.sampled_from(["remove", "repeat", "swap", "byte", "cut"]), label="how"):
        case "remove":
            changed = lines[:at] + lines[at + 1 :]
        case "repeat":
            changed = [*lines[: at + 1], *lines[at:]]
        case "swap":
            other = data.draw(st.integers(0, len(lines) - 1).filter(lambda other: other != at), label="with")
            changed = list(lines)
            changed[at], changed[other] = lines[other], lines[at]
        case "byte":
            place = data.draw(st.integers(0, len(lines[at]) - 1), label="byte")
            new = data.draw(st.integers(0x20, 0x7E).filter(lambda byte: byte != lines[at][place]), label="becomes")
            changed = list(lines)
            changed[at] = lines[at][:place] + bytes([new]) + lines[at][place + 1 :]
        case _:
            changed = lines[: max(1, at)]
            if lines[max(1, at) - 1].startswith(b'{"type":"end"'):
                return  # whole blocks removed from the end: only who kept the last seal can tell
    assert problems_of(changed) != []


def test_lines_hold_every_text_that_a_cell_can_hold(tmp_path: Path):
    key = own_key(tmp_path / "signing.key")
    texts = [
        "a\nb\rc\td",
        "\ufffe\uffff",
        'quotes " and \\',
        "<&>",
        "\x00\x1f\x7f",
        "𝄞",
        '","hash":"' + "0" * 64 + '"}',
    ]
    numbers = [{"cell": "A1", "value": text} for text in texts]
    lines = block_lines({"audit": "x"}, numbers, previous=START, public_key=key.public, sign=key.sign)
    assert all(b"\n" not in line and "\ufffe" not in line.decode() for line in lines)
    chain = read_chain(lines, is_signed=is_signed)
    assert (chain.problems, [number["value"] for number in chain.blocks[0].numbers]) == ([], texts)


def test_numbers_come_back_to_the_last_bit(tmp_path: Path):
    values = [0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, 7, True, None]
    lines = block_lines({}, [{"v": v} for v in values], previous=START, public_key="", sign=lambda _: "")
    back = [orjson.loads(line)["v"] for line in lines[1:-1]]
    assert [repr(value) for value in back] == [repr(value) for value in values]
