"""A web server on loopback that serves files, correctly or as badly as a test requires."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from wikigr.distribution.download import open_download

Behavior = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Runs the behavior registered for the path, or serves the file at that path."""

    protocol_version = "HTTP/1.1"
    server: FileServer

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers.items())))
        behavior = self.server.behaviors.get(self.path)
        try:
            behavior(self) if behavior is not None else self.serve()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve(self, *, cut: int | None = None) -> None:
        """Serve the file; ``cut`` closes the connection after this many bytes of the body."""
        content = self.server.files.get(self.path)
        if content is None:
            self.reply(404)
        else:
            self.reply(200, content, cut=cut)

    def reply(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None, cut: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:cut])
        self.close_connection = True

    def log_message(self, format: str, *values: object) -> None:  # noqa: A002
        del format, values


class FileServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str = "127.0.0.1") -> None:
        super().__init__((host, 0), Handler)
        self.files: dict[str, bytes] = {}
        self.behaviors: dict[str, Behavior] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.scheme = "http"

    def url(self, path: str, host: str | None = None) -> str:
        return f"{self.scheme}://{host or self.socket.getsockname()[0]}:{self.server_port}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors: tests hang up on purpose."""


@contextmanager
def serving(host: str = "127.0.0.1", certificate: Path | None = None) -> Iterator[FileServer]:
    """Run a server, with TLS if ``certificate`` (a PEM file with its key) is given."""
    with FileServer(host) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.scheme = "https"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def make_certificates(folder: Path, *names: str) -> tuple[Path, Path]:
    """Create an authority and a certificate for ``names`` signed by it; returns the PEM files (authority, server)."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    subjects = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in ("authority", "server")]
    alternatives: list[x509.GeneralName] = []
    for name in names:
        try:
            alternatives.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            alternatives.append(x509.DNSName(name))
    certificates = []
    for key, subject, is_authority in zip(keys, subjects, (True, False), strict=True):
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subjects[0])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()), critical=False)
        )
        if is_authority:
            usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        else:
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        certificates.append(builder.sign(keys[0], hashes.SHA256()))
    pem = serialization.Encoding.PEM
    authority, server = folder / "authority.pem", folder / "server.pem"
    authority.write_bytes(certificates[0].public_bytes(pem))
    private = keys[1].private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    server.write_bytes(private + certificates[1].public_bytes(pem))
    return authority, server


def fetch_file(url: str, folder: Path, *, max_bytes: int, allow_private: bool = False) -> bytes:
    """Download a file and return its content."""
    with open_download(url, folder, max_bytes=max_bytes, allow_private=allow_private) as target:
        return target.read_bytes()
