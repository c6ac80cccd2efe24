"""Record the size of a compiled core beside it, and the SHA-256 of the core and its header.

    record.py [--foreign] FILE ...

FILE is a library, or a wheel that holds one; this is the last step of what builds or changes it. A
library that cannot be loaded is refused, unless it is for a foreign machine.
"""

import ctypes
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path


def record(library: Path) -> None:
    data, header = library.read_bytes(), library.with_name("iacta.h").read_bytes()
    text = f"{len(data)} {hashlib.sha256(data + header).hexdigest()}\n"
    library.with_name(f"{library.name}.sha256").write_text(text)


def record_in_wheel(wheel: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tool = [sys.executable, "-m", "wheel"]
        subprocess.run([*tool, "unpack", "--dest", folder, wheel], check=True)  # noqa: S603 # ours
        (content,) = Path(folder).iterdir()
        for library in content.glob("iacta/native/library/core.*[!6]"):
            record(library)
        subprocess.run([*tool, "pack", "--dest-dir", wheel.parent, content], check=True)  # noqa: S603


def check(library: Path) -> None:
    try:
        ctypes.CDLL(str(library.resolve())).iacta_version  # noqa: B018
    except (OSError, AttributeError) as error:
        sys.exit(f"the compiler made no library that can be loaded: {error}")


words = sys.argv[1:]
is_foreign = words[0] == "--foreign"
for each in map(Path, words[is_foreign:]):
    if each.suffix == ".whl":
        record_in_wheel(each)
    else:
        if not is_foreign:
            check(each)
        record(each)
