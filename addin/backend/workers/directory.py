"""Where the workers of one port meet: a folder with a socket of each, and a file that grows when the key changes."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ANSWER_S = 3.0
"""A worker that takes longer to say what it knows is left out: one that has died is known at once, and a gap in what is
told is worse than a slow answer."""

MAX_QUESTION_BYTES = 1_000

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerDirectory:
    """The folder of the workers of one port, which only their user can enter, and when the first of them started."""

    folder: Path
    started_at: float

    @property
    def key_version(self) -> int:
        """A number that grows with every change of the stored key."""
        try:
            return self._key_file.stat().st_size
        except FileNotFoundError:
            return 0

    def tell_key_changed(self) -> None:
        """Let every worker look the stored key up again."""
        with self._key_file.open("ab") as file:
            file.write(b".")

    @property
    def _key_file(self) -> Path:
        return self.folder / "key"

    @asynccontextmanager
    async def answering(self, answer: Callable[[str], Awaitable[bytes]]) -> AsyncIterator[None]:
        """Inside the block, answer the questions of the other workers."""

        async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                question = await reader.readline()
                writer.write(await answer(question.decode().rstrip("\n")))
                await writer.drain()
            except (OSError, ValueError) as error:
                _logger.info("a question of another worker was not answered: %s", type(error).__name__)
            finally:
                writer.close()

        path = self._socket(os.getpid())
        path.unlink(missing_ok=True)  # of an earlier process that had the same number
        server = await asyncio.start_unix_server(reply, path, limit=MAX_QUESTION_BYTES)
        try:
            yield
        finally:
            server.close()
            path.unlink(missing_ok=True)

    async def ask_others(self, question: str) -> list[bytes]:
        """Return what the other workers answer; one that is gone, or does not answer in time, is left out."""
        others = [path for path in self.folder.glob("*.sock") if path != self._socket(os.getpid())]
        answers = await asyncio.gather(*(_asked(path, question) for path in others))
        return [each for each in answers if each]

    def _socket(self, pid: int) -> Path:
        return self.folder / f"{pid}.sock"


async def _asked(path: Path, question: str) -> bytes | None:
    try:
        async with asyncio.timeout(ANSWER_S):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(f"{question}\n".encode())
                return await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):  # it has ended, or was killed and left its socket
        return None
