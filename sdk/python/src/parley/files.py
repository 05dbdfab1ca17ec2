"""Files that are downloaded, and the form that uploads one."""

from __future__ import annotations

import http.client
import io
import os
import re
import secrets
import urllib.parse
from types import TracebackType
from typing import BinaryIO, Iterator, NamedTuple, Optional, Type, Union

from .errors import ConnectionFailedError


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
        return b"".join(self.chunks())

    def chunks(self, size: int = 64 * 1024) -> Iterator[bytes]:
        """The content in pieces, for large files. Raises a `ConnectionFailedError` if it is not complete."""
        received = 0
        with self._response:
            while True:
                try:
                    chunk = self._response.read(size)
                except (OSError, http.client.HTTPException) as error:
                    raise _broken_off() from error
                if not chunk:
                    break
                received += len(chunk)
                yield chunk
        # `http.client` ends without an error if the connection does.
        if self.size is not None and received < self.size:
            raise _broken_off()

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


def _broken_off() -> ConnectionFailedError:
    message = "The connection ended before the file was complete. Download it again."
    return ConnectionFailedError(message, code="connection_failed")


class FileForm(NamedTuple):
    """A `multipart/form-data` body with the part `file`."""

    content_type: str
    length: int
    parts: Iterator[bytes]


def form_with_file(content: Union[bytes, BinaryIO], filename: str, mime_type: str) -> FileForm:
    """`content` is bytes, or a file that was opened in binary mode, which is read while it is sent."""
    if isinstance(content, (str, io.TextIOBase)):
        raise TypeError("content must be bytes, or a file that was opened in binary mode.")
    if re.search(r"[\r\n]", mime_type):
        raise ValueError("mime_type must be one line, such as image/png.")
    boundary = f"parley-{secrets.token_hex(16)}"
    # As browsers do it: https://html.spec.whatwg.org/#multipart-form-data
    name = os.path.basename(filename).replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {mime_type}\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()
    file = io.BytesIO(content) if isinstance(content, (bytes, bytearray, memoryview)) else content
    if not file.seekable():
        file = io.BytesIO(file.read())
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)

    def parts() -> Iterator[bytes]:
        yield head
        while True:
            chunk = file.read(64 * 1024)
            if not chunk:
                break
            yield chunk
        yield tail

    return FileForm(f"multipart/form-data; boundary={boundary}", len(head) + size + len(tail), parts())


def _file_name(disposition: str) -> Optional[str]:
    """RFC 6266: `filename*` can have any characters and takes precedence over `filename`."""
    encoded = re.search(r";\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)", disposition, re.IGNORECASE)
    if encoded:
        return urllib.parse.unquote(encoded[1])
    plain = re.search(r';\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))', disposition, re.IGNORECASE)
    if not plain:
        return None
    return re.sub(r"\\(.)", r"\1", plain[1]) if plain[1] is not None else plain[2]
