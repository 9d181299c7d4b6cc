"""Files that the package wrote, damaged: no number of them changes without a word, none is lost."""

from __future__ import annotations

import gc
import tempfile
import warnings
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import twin
from twin.errors import TwinWarning
from twin.kernels.jit import KernelFiles
from twin.logs import check_log, log_of, read_log, write_log
from twin.training.policy import Policy, load_policy, policy_names

PIECES = (b"nan", b"1e400", b"1e200", b"-", b",", b"\n", b"[", b"]", b"\0", b'"', b"{}", b"null")
"""Put into files, beside random bytes."""

CONTENT = {"numbers": list(range(200)), "text": "compiled"}
"""Of a file of compiled code, to the cache."""


@lru_cache(maxsize=1)
def good_files():
    """Return the content of good files, by name: logs, saved runs, a bag of ROS, a policy."""
    run = twin.load("stewart").simulate(0.01, twist=[0, 0.1, 0.1, 0, 0.3, 0.2], progress=False)
    endings = [
        ending
        for ending, library in ((".csv", "csv"), (".parquet", "pyarrow"), (".mcap", "mcap"))
        if find_spec(library)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [write_log(log_of(run), folder / f"log{ending}") for ending in endings]
        paths += [run.save(folder / f"run{end}") for end in (*endings, ".npz") if end != ".mcap"]
        paths.append(load_policy(policy_names()[0]).save(folder / "policy.npz"))
        if find_spec("rosbags"):
            paths.append(_bag(folder / "log.bag"))
        return {path.name: path.read_bytes() for path in paths}


def _bag(path):
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    kind = store.types["std_msgs/msg/Float64"]
    writer = Writer(path)
    writer.set_compression(Writer.CompressionFormat.BZ2)
    with writer:
        topic = writer.add_connection("/force", kind.__msgtype__, typestore=store)
        for k in range(50):
            data = store.serialize_ros1(kind(data=0.5 * k), kind.__msgtype__)
            writer.write(topic, 1_000_000 * (k + 1), data)
    return path


def log_content(log):
    """Return all that a log holds."""
    channels = {a.name: (a.units, a.time.tolist(), a.values.tolist()) for a in log.channels}
    return {"metadata": log.metadata} | channels


def read_whole(path):
    """Return what a log holds, after the checks of a log."""
    log = read_log(path)
    check_log(log, twin.load("stewart"))
    return log_content(log)


def read_policy(path):
    """Return what a policy holds."""
    policy = Policy.load(path)
    arrays = (*policy.weights, *policy.biases, policy.mean, policy.scale)
    return [*(array.tolist() for array in arrays), policy.network, policy.origin]


@lru_cache(maxsize=32)
def expected(name, read):
    """Return what a good file holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(good_files()[name])
        return read(path)


def damage_input(random):
    """Return a name and a call that reads a damaged file."""
    name = random.choice(sorted(good_files()))
    read = read_policy if name == "policy.npz" else read_whole
    is_flip = random.random() < 0.5
    content = (flipped if is_flip else damaged)(good_files()[name], random)

    def call():
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            path = Path(folder) / name
            path.write_bytes(content)
            try:
                found = read(path)
            finally:
                gc.collect(0)
                assert [each.name for each in Path(folder).iterdir()] == [name], "other files"
                assert path.read_bytes() == content, "the file has changed"
            told = any(each.category is TwinWarning for each in said)
            # Bags have no checksums.
            if is_flip and not told and not name.endswith(".bag"):
                assert found == expected(name, read), "other numbers without a word"
            return len(found)

    return f"{'flipped' if is_flip else 'damaged'} {name}", call


def cache_input(random):
    """Return a name and a call that loads compiled code from a damaged file."""
    kind = random.choice(("flipped", "damaged", "garbage", "folder"))

    def call():
        with tempfile.TemporaryDirectory() as folder:
            files = KernelFiles(folder, "kernel", ("stamp", 3))
            files.save("key", CONTENT)
            (path,) = Path(folder).iterdir()
            good = path.read_bytes()
            if kind == "folder":
                path.unlink()
                path.mkdir()
                assert files.load("key") is None
                return kind
            changes = {"flipped": flipped, "damaged": damaged}
            change = changes.get(kind, lambda _, random: random.randbytes(random.randrange(3000)))
            content = change(good, random)
            path.write_bytes(content)
            assert files.load("key") == (CONTENT if content == good else None)
            files.save("key", CONTENT)
            assert files.load("key") == CONTENT
            return kind

    return f"cache {kind}", call


def flipped(content, random):
    """Return bytes of which one bit is another."""
    data, bit = bytearray(content), random.randrange(8 * len(content))
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def damaged(content, random):
    """Return bytes with one to ten changes: cuts, insertions, blocks that are zero or elsewhere."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 10))):
        place, length = random.randrange(len(data) + 1), random.choice((1, 4, 64, 512, 4096))
        block = slice(place, place + length)
        kind = random.choice(("zeros", "random", "cut", "end", "twice", "moved", "piece", "large"))
        if kind == "zeros":
            data[block] = bytes(len(data[block]))
        elif kind == "random":
            data[block] = random.randbytes(len(data[block]))
        elif kind == "cut":
            del data[block]
        elif kind == "end":
            del data[max(place, len(data) - length) :]
        elif kind == "twice":
            data[place:place] = data[block]
        elif kind == "moved":
            moved = data[block]
            del data[block]
            other = random.randrange(len(data) + 1)
            data[other:other] = moved
        elif kind == "piece":
            data[place:place] = random.choice(PIECES)
        else:  # lengths and counts
            data[place : place + 8] = b"\xff" * random.choice((1, 2, 4, 7, 8))
    return bytes(data)
