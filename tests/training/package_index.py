"""A package index on loopback that serves wheels to a real pip."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class PackageIndex:
    """Wheels by file name. ``requested`` are the files that pip asked for; those in ``absent`` are not there."""

    def __init__(self) -> None:
        self.wheels: dict[str, bytes] = {}
        self.requested: list[str] = []
        self.absent: set[str] = set()
        self.url = ""

    def add(self, project: str, members: dict[str, bytes]) -> None:
        """Add a wheel that depends on a package that does not exist."""
        name = f"{project.replace('-', '_')}-0.0.1"
        metadata = f"Metadata-Version: 2.1\nName: {project}\nVersion: 0.0.1\nRequires-Dist: AAIT\n"
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in members.items():
                archive.writestr(member, data)
            archive.writestr(f"{name}.dist-info/METADATA", metadata)
            archive.writestr(
                f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{name}.dist-info/RECORD", "")
        self.wheels[f"{name}-py3-none-any.whl"] = content.getvalue()

    def page(self, project: str) -> bytes | None:
        files = [file for file in self.wheels if file.startswith(project.replace("-", "_") + "-")]
        links = "".join(f'<a href="/files/{file}">{file}</a>' for file in files)
        return f"<!DOCTYPE html><html><body>{links}</body></html>".encode() if files else None


@contextmanager
def serve() -> Iterator[PackageIndex]:
    """Serve an empty index on loopback."""
    index = PackageIndex()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = self.path.strip("/").split("/")
            if parts[0] == "files":
                index.requested.append(parts[1])
                content = None if parts[1] in index.absent else index.wheels.get(parts[1])
            else:
                content = index.page(parts[-1])
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Type", "text/html" if parts[0] == "simple" else "application/octet-stream")
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args: object) -> None:
            del args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_port}/simple"
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
