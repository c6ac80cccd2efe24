"""Print the hash of the core's source, which the build compiles into the core.

Python computes the same hash in a checkout, and refuses a core that was built from another source.
"""

import hashlib
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "core"

content = hashlib.sha256()
for name in sorted(each.relative_to(SOURCE).as_posix() for each in SOURCE.rglob("*.*")):
    content.update(name.encode() + (SOURCE / name).read_bytes())
print(content.hexdigest()[:16])
