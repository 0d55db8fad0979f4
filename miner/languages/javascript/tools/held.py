"""Print as JSON the version of Node, and the packages that npm's own folder holds beside npm.

    held.py NODE NPM

Standard library.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

node, npm = sys.argv[1:]
version = subprocess.run([node, "--version"], check=True, text=True, capture_output=True).stdout.strip()
folders = [path.parent for path in Path(npm).rglob("node_modules/**/package.json")]
names = {folder.as_posix().rpartition("/node_modules/")[2] for folder in folders}
print(json.dumps({"node": version, "held": sorted(name for name in names if name.count("/") == name.startswith("@"))}))
