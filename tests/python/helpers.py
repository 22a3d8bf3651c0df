"""What the tests of the Python package share: the osprof under test, a private directory, and profiles to read.

Given by meson: OSPROF, OSPROFFS and OSPROF_LIBRARIES (the programs under test), MAKE_EVENTS (writes an events file),
MERGE_EVENTS (writes several as one).
"""

import gzip
import io
import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
CORPUS = sorted((TESTS / "corpus").glob("live-*"))
DATA = TESTS / "data"


def scaled(seconds):
    """A time limit, on a slow machine longer."""
    return math.ceil(seconds * float(os.environ.get("OSPROF_TIMEOUT_SCALE", "1")))


def corpus(name):
    """The files of that name that versions so far have written, unpacked: their bytes."""
    return [gzip.decompress((version / (name + ".gz")).read_bytes()) for version in CORPUS]


def sound_profiles():
    """Names and bytes of all profiles and recordings that tests/data and tests/corpus have."""
    names = [name for name in sorted(DATA.glob("*.osprof")) if not name.name.startswith("should-fail-")]
    profiles = [(name.name, name.read_bytes()) for name in names]
    return profiles + [(name, text) for name in ("profile", "recording") for text in corpus(name)]


def as_file(data):
    """Bytes as an open file."""
    return io.BytesIO(data)


class ScratchTest(unittest.TestCase):
    """A test with a private directory, and the command osprof."""

    maxDiff = 2000

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="osprof-python.")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        own = {name: str(self.scratch / name) for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME")}
        os.mkdir(own["XDG_RUNTIME_DIR"], 0o700)
        self.environment = dict(os.environ, **own, LC_ALL="C.UTF-8", TZ="UTC")

    def run_osprof(self, *arguments, statuses=(0,), cwd=None):
        """The output of osprof, which must end with one of these statuses."""
        done = subprocess.run(
            [os.environ["OSPROF"], *map(str, arguments)],
            cwd=cwd or self.scratch,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=scaled(60),
        )
        message = done.stderr.decode("utf-8", "replace")
        if "this osprof is built without" in message:
            self.skipTest(message)
        self.assertIn(done.returncode, statuses, f"status of osprof {arguments}: {message}")
        return done.stdout

    def file(self, name, data):
        """A file in the private directory that has these bytes."""
        path = self.scratch / name
        path.write_bytes(data)
        return path

    def shown(self, path):
        """What osprof show --json says of a file."""
        return json.loads(self.run_osprof("show", "--json", path))
