"""One thread for linear algebra: on matrices of this size threads wait for each other.

Imported before numpy, which reads the variable once.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
