"""A time-stamping authority on this machine: `openssl ts` behind HTTP, with a certificate of its own."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CONFIG = """
[tsa]
default_tsa = one
[one]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
"""


@dataclass
class Authority:
    """An authority that answers: its address, the file of the certificate behind it, and how it answers."""

    folder: Path
    address: str = ""
    asked: int = 0
    answer: Callable[[bytes], tuple[int, bytes]] = field(default=lambda _: (500, b""))

    @property
    def root(self) -> Path:
        """The certificate that stands behind its stamps."""
        return self.folder / "root.pem"

    def stamp(self, query: bytes) -> tuple[int, bytes]:
        """The answer that `openssl ts` makes."""
        (self.folder / "query").write_bytes(query)
        files = {"queryfile": "query", "signer": "tsa.pem", "inkey": "tsa.key", "config": "tsa.cnf"}
        given = [part for name, file in files.items() for part in (f"-{name}", self.folder / file)]
        done = subprocess.run(["openssl", "ts", "-reply", *given], capture_output=True, check=True)
        return 200, done.stdout


@contextmanager
def time_stamping(folder: Path, name: str = "Time Ltd") -> Iterator[Authority]:
    """An authority that answers on a free port."""
    folder.mkdir(parents=True)
    _certify(folder, name)
    (folder / "tsa.cnf").write_text(CONFIG.format(folder=folder))
    (folder / "serial").write_text("01")
    authority = Authority(folder)
    authority.answer = authority.stamp

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            authority.asked += 1
            status, content = authority.answer(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("content-type", "application/timestamp-reply")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    authority.address = f"http://127.0.0.1:{server.server_port}/tsa"
    try:
        yield authority
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certify(folder: Path, name: str) -> None:
    """A root, and the authority's own certificate that the root signed."""
    root_key, key = (generate_private_key(65537, 2048) for _ in range(2))
    root_name = _named(f"Root of {name}")
    root = _builder(root_name, root_name, root_key)
    root = root.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    own = _builder(_named(name), root_name, key)
    own = own.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    own = own.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), critical=True)
    for file, made in (("root.pem", root), ("tsa.pem", own)):
        (folder / file).write_bytes(made.sign(root_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "tsa.key").write_bytes(key.private_bytes(*form))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(subject: x509.Name, issuer: x509.Name, key: RSAPrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
    )
