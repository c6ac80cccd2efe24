"""Record the size and the SHA-256 of a compiled core beside it, which iacta checks.

    record.py FILE ...

FILE is a library, or a wheel that holds one; this is the last step of what builds or changes it.
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path


def record(library: Path) -> None:
    data = library.read_bytes()
    text = f"{len(data)} {hashlib.sha256(data).hexdigest()}\n"
    library.with_name(f"{library.name}.sha256").write_text(text)


def record_in_wheel(wheel: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tool = [sys.executable, "-m", "wheel"]
        subprocess.run([*tool, "unpack", "--dest", folder, wheel], check=True)  # noqa: S603 # ours
        (content,) = Path(folder).iterdir()
        for library in content.glob("iacta/native/library/core.*[!6]"):
            record(library)
        subprocess.run([*tool, "pack", "--dest-dir", wheel.parent, content], check=True)  # noqa: S603


for each in map(Path, sys.argv[1:]):
    record_in_wheel(each) if each.suffix == ".whl" else record(each)
