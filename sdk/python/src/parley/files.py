"""Files that are downloaded, and the form that uploads one."""

from __future__ import annotations

import http.client
import os
import re
import secrets
import urllib.parse
from types import TracebackType
from typing import Iterator, Optional, Tuple, Type


class DownloadedFile:
    """A file whose content is read when you ask for it, once. Use it in a `with` statement, or call `close`."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        length = response.headers.get("content-length")
        #: The name given by the person who sent it. Do not use it as a path.
        self.name: str = _file_name(response.headers.get("content-disposition") or "") or "file"
        #: Its media type.
        self.type: str = response.headers.get("content-type") or "application/octet-stream"
        #: In bytes; None if unknown.
        self.size: Optional[int] = int(length) if length is not None else None

    def read(self) -> bytes:
        """The whole content."""
        with self._response:
            return self._response.read()

    def chunks(self, size: int = 64 * 1024) -> Iterator[bytes]:
        """The content in pieces, for large files."""
        with self._response:
            while True:
                chunk = self._response.read(size)
                if not chunk:
                    return
                yield chunk

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> "DownloadedFile":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


def form_with_file(content: bytes, filename: str, mime_type: str) -> Tuple[str, bytes]:
    """A `multipart/form-data` body with the part `file`, and its content type."""
    if re.search(r"[\r\n]", mime_type):
        raise ValueError("mime_type must be one line, such as image/png.")
    boundary = f"parley-{secrets.token_hex(16)}"
    # As browsers do it: https://html.spec.whatwg.org/#multipart-form-data
    name = os.path.basename(filename).replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {mime_type}\r\n\r\n"
    )
    return f"multipart/form-data; boundary={boundary}", head.encode() + content + f"\r\n--{boundary}--\r\n".encode()


def _file_name(disposition: str) -> Optional[str]:
    """RFC 6266: `filename*` can have any characters and takes precedence over `filename`."""
    encoded = re.search(r";\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)", disposition, re.IGNORECASE)
    if encoded:
        return urllib.parse.unquote(encoded[1])
    plain = re.search(r';\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))', disposition, re.IGNORECASE)
    if not plain:
        return None
    return re.sub(r"\\(.)", r"\1", plain[1]) if plain[1] is not None else plain[2]
