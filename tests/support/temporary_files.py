"""Temporary files in memory where there is a place for them: tests write thousands of small ones.

Imported before anything asks for the folder of temporary files.
"""

import os
from pathlib import Path

MEMORY = Path("/dev/shm")

if os.access(MEMORY, os.W_OK):
    os.environ.setdefault("TMPDIR", str(MEMORY))
