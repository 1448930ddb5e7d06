"""What goes wrong with a connection, as errors of httpx that tell the cause: aiohttp's own may hold the key.

httpx.TransportError
├── ConnectError                nothing was sent
│   ├── UnknownHostError        the name has no address
│   │   └── UnknownProxyError   nor has that of the proxy, which alone is asked for
│   ├── RefusedError            nobody listens there
│   ├── UntrustedError          the certificate is of an authority that is not trusted here
│   │   └── WrongCertificateError   of one that may be trusted, but too old, too new, or for another name
│   └── NoTlsError              what answers there does not speak TLS
├── ConnectTimeout              nothing was sent
├── ProxyError                  nothing was sent; the status, where the proxy gave one
│   └── ProxyAwayError          there is no proxy at the address that the system names
├── RemoteProtocolError         what came is no HTTP
│   └── NoAnswerError           the connection ended before the first byte of an answer
└── ReadError                   the answer broke off
"""

from __future__ import annotations

import errno
import socket
import ssl
from enum import StrEnum, auto

import aiohttp
import httpx


class UnknownHostError(httpx.ConnectError):
    """The name of the service has no address."""


class UnknownProxyError(UnknownHostError):
    """The name of the proxy has no address; the proxy would look up the service's."""


class RefusedError(httpx.ConnectError):
    """Nobody listens at the address of the service."""


class UntrustedError(httpx.ConnectError):
    """The certificate is of an authority that is not trusted here."""


class CertificateFault(StrEnum):
    """Why another authority would not help."""

    EXPIRED = auto()
    NOT_YET_VALID = auto()
    OTHER_NAME = auto()


class WrongCertificateError(UntrustedError):
    """The certificate itself is wrong, whoever vouches for it."""

    def __init__(self, fault: CertificateFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class NoTlsError(httpx.ConnectError):
    """What answers at the address of the service does not speak TLS."""


# The numbers X509_V_ERR_… of OpenSSL, which the module ssl hands on without names: they stay, while its words change.
_FAULTS = {
    9: CertificateFault.NOT_YET_VALID,
    10: CertificateFault.EXPIRED,
    62: CertificateFault.OTHER_NAME,  # of a host
    64: CertificateFault.OTHER_NAME,  # of an address
}


class ProxyAwayError(httpx.ProxyError):
    """There is no proxy at the address that the system names."""


class NoAnswerError(httpx.RemoteProtocolError):
    """The connection ended before the first byte of an answer: perhaps the service had closed it before."""


FAILURES = (aiohttp.ClientError, ValueError, OSError)
"""What aiohttp raises."""


def as_httpx(error: Exception, proxy: str = "") -> httpx.TransportError:
    """Return what aiohttp raised where no connection was made as an error of httpx, to be raised behind the handler.

    `proxy` is the name of the one that is used.
    """
    match error:
        case aiohttp.ClientProxyConnectionError():
            return ProxyAwayError(proxy)
        case aiohttp.ClientHttpProxyError():
            return httpx.ProxyError(str(error.status))
        case TimeoutError():
            return httpx.ConnectTimeout("no connection in time")
        case aiohttp.ClientConnectorCertificateError():
            return _untrusted(error.certificate_error)
        case aiohttp.ClientConnectorDNSError() if proxy:
            return UnknownProxyError(proxy)
        case aiohttp.ClientConnectorError():
            return _no_connection(error.os_error)
        case aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError("what came is no answer of HTTP")
        case _:
            return httpx.ConnectError(type(error).__name__)


def _untrusted(error: Exception) -> UntrustedError:
    """The error of a certificate that was refused."""
    fault = _FAULTS.get(error.verify_code) if isinstance(error, ssl.SSLCertVerificationError) else None
    return WrongCertificateError(fault) if fault else UntrustedError("an authority that is not trusted")


def _no_connection(error: OSError) -> httpx.ConnectError:
    """The error of a connection that was not made."""
    match error:
        case socket.gaierror():
            return UnknownHostError(error.strerror or "")
        case ssl.SSLCertVerificationError():
            return _untrusted(error)
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return NoTlsError("no TLS")
        case _ if error.errno == errno.ECONNREFUSED or isinstance(error, ConnectionRefusedError):
            return RefusedError(error.strerror or "")
        case _:
            return httpx.ConnectError(str(error))
