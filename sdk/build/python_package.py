"""Builds the wheel and the source archive of the Python SDK: python_package.py <folder>.

With the standard library only, so that a release needs no build tools, and the same sources give the same bytes.
"""

import base64
import gzip
import hashlib
import io
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent / "python"
LICENSE = ROOT.parent.parent / "LICENSE"
# The time of every file in the archives: the first that a zip can have.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
TAR_TIME = 315532800


def main(out: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    metadata = metadata_of(project)
    write_wheel(out / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info", metadata)
    write_source(out / f"{name}-{version}.tar.gz", f"{name}-{version}", metadata)


def metadata_of(project: dict) -> bytes:
    fields = [
        ("Metadata-Version", "2.1"),
        ("Name", project["name"]),
        ("Version", project["version"]),
        ("Summary", project["description"]),
        ("Keywords", ",".join(project["keywords"])),
        ("License", project["license"]["text"]),
        *(("Classifier", each) for each in project["classifiers"]),
        *(("Project-URL", f"{label}, {url}") for label, url in project.get("urls", {}).items()),
        ("Requires-Python", project["requires-python"]),
        *(("Requires-Dist", each) for each in project.get("dependencies", [])),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    return f"{head}\n{(ROOT / project['readme']).read_text('utf-8')}".encode()


def sources() -> dict[str, bytes]:
    """The files of the package, without what Python has compiled."""
    folder = ROOT / "src"
    paths = sorted(path for path in folder.rglob("*") if path.suffix == ".py" or path.name == "py.typed")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def write_wheel(file: Path, info: str, metadata: bytes) -> None:
    files = {
        **sources(),
        f"{info}/LICENSE": LICENSE.read_bytes(),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: parley\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/top_level.txt": b"parley\n",
    }
    lines = [f"{name},sha256={digest_of(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)


def digest_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_source(file: Path, folder: str, metadata: bytes) -> None:
    files = {
        "LICENSE": LICENSE.read_bytes(),
        "PKG-INFO": metadata,
        "README.md": (ROOT / "README.md").read_bytes(),
        "pyproject.toml": (ROOT / "pyproject.toml").read_bytes(),
        **{f"src/{name}": data for name, data in sources().items()},
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), TAR_TIME, 0o644
            archive.addfile(entry, io.BytesIO(data))
    file.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
