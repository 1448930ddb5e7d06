"""The type library is a file in UNOIDL's format; whether Calc understands it, the tests with Calc show."""

import struct

from addin.calc.extension import Interface, Method, type_library

INTERFACE = Interface(
    "org.example.XFunctions",
    [
        Method("SIGNAL", "any", [("document", "com.sun.star.beans.XPropertySet"), ("slug", "any")]),
        Method("QUOTA", "any", []),
    ],
)


class Reader:
    """Reads the format back, by its published description."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def number(self, at: int) -> int:
        return struct.unpack_from("<I", self.content, at)[0]

    def entries(self, at: int, count: int) -> dict[str, int]:
        pairs = [(self.number(at + 8 * i), self.number(at + 8 * i + 4)) for i in range(count)]
        return {self.content[name : self.content.index(b"\0", name)].decode(): payload for name, payload in pairs}

    def text(self, at: int) -> tuple[str, int]:
        end = at + 4 + self.number(at)
        return self.content[at + 4 : end].decode(), end

    def interface(self, at: int) -> dict[str, tuple[str, list[tuple[str, str]]]]:
        assert self.content[at] == 5
        assert self.number(at + 1) == 1
        base, at = self.text(at + 5)
        assert base == "com.sun.star.uno.XInterface"
        optional_bases, attributes, methods = (self.number(at + 4 * i) for i in range(3))
        assert (optional_bases, attributes) == (0, 0)
        found, at = {}, at + 12
        for _ in range(methods):
            name, at = self.text(at)
            returns, at = self.text(at)
            count, at = self.number(at), at + 4
            parameters = []
            for _ in range(count):
                assert self.content[at] == 0
                parameter, at = self.text(at + 1)
                kind, at = self.text(at)
                parameters.append((parameter, kind))
            assert self.number(at) == 0
            found[name], at = (returns, parameters), at + 4
        return found


def test_what_is_declared_can_be_read_back():
    content = type_library(INTERFACE)
    reader = Reader(content)
    assert content.startswith(b"UNOIDL\xff\0")
    at, count = reader.number(8), reader.number(12)
    for module in ("org", "example"):
        payload = reader.entries(at, count)[module]
        assert content[payload] == 0
        at, count = payload + 5, reader.number(payload + 1)
    declared = reader.interface(reader.entries(at, count)["XFunctions"])
    assert declared == {method.name: (method.returns, list(method.parameters)) for method in INTERFACE.methods}
