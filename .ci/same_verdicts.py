"""Compare the verdicts of two validation reports (JSON); exit 1 and name them where they differ."""

import json
import sys
from pathlib import Path


def verdicts(node: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Return the verdicts of a report by the names on the way to them."""
    found: dict[tuple[str, ...], str] = {}
    if isinstance(node, dict):
        name = str(node.get("machine") or node.get("key") or node.get("name") or node.get("title"))
        if isinstance(node.get("verdict"), str):
            found[(*path, name)] = node["verdict"]
        for key, value in node.items():
            found |= verdicts(value, (*path, name, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            found |= verdicts(value, (*path, str(index)))
    return found


first, second = (verdicts(json.loads(Path(file).read_text())) for file in sys.argv[1:])
if not first:
    sys.exit("no verdict was found")
different = {path for path in first.keys() | second.keys() if first.get(path) != second.get(path)}
for path in sorted(different):
    print(" / ".join(path), first.get(path), "against", second.get(path))
print(f"{len(first)} verdicts, {len(different)} differ")
sys.exit(bool(different))
