"""The examples draw pictures, and refuse what they cannot draw in one line."""

import os
import subprocess
import sys
import tempfile
import unittest

from helpers import DATA, TESTS, ScratchTest, scaled

EXAMPLES = TESTS.parent / "python" / "examples"


def python_with_matplotlib():
    """This Python, or the system's, for which packages are installed; None: neither has it."""
    for python in filter(os.path.exists, (sys.executable, "/usr/bin/python3")):
        found = subprocess.run(
            [python, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('matplotlib'))"],
            stderr=subprocess.DEVNULL,
        )
        if found.returncode == 0:
            return python
    return None


PYTHON = python_with_matplotlib()


@unittest.skipUnless(PYTHON, "python3-matplotlib is not installed")
class Examples(ScratchTest):
    @classmethod
    def setUpClass(cls):
        """One directory for what matplotlib keeps of fonts, which it takes seconds to find."""
        fonts = tempfile.TemporaryDirectory(prefix="osprof-python.")
        cls.addClassCleanup(fonts.cleanup)
        cls.fonts = fonts.name

    def example(self, name, *arguments):
        return subprocess.run(
            [PYTHON, EXAMPLES / name, *map(str, arguments)],
            env=dict(self.environment, MPLCONFIGDIR=self.fonts),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=scaled(120),
        )

    def assert_drawn(self, name, *arguments):
        picture = self.scratch / "picture.png"
        done = self.example(name, *arguments, picture)
        self.assertEqual((0, b"", b""), (done.returncode, done.stdout, done.stderr))
        data = picture.read_bytes()
        self.assertEqual(b"\x89PNG\r\n\x1a\n", data[:8])
        self.assertGreater(len(data), 10000)
        picture.unlink()

    def assert_refused(self, message, name, *arguments):
        done = self.example(name, *arguments, self.scratch / "picture.png")
        self.assertEqual(2, done.returncode)
        self.assertIn(f"{name}: error: {message}", os.fsdecode(done.stderr))
        self.assertFalse((self.scratch / "picture.png").exists())

    def test_heatmap(self):
        sampled, plain = DATA / "plot-sampled.osprof", DATA / "show-grep.osprof"
        self.assert_drawn("heatmap.py", sampled, "READ")
        self.assert_refused(f"{plain} has no intervals", "heatmap.py", plain, "READ")
        self.assert_refused(f"{sampled} has no calls of X; there are:", "heatmap.py", sampled, "X")

    def test_compare_cdf(self):
        profiles = DATA / "compare-before.osprof", DATA / "compare-after.osprof"
        self.assert_drawn("compare_cdf.py", *profiles, "READ")
        wrong = DATA / "should-fail-overflow.osprof"
        self.assert_refused(f"{wrong}: line ", "compare_cdf.py", profiles[0], wrong, "READ")
        bare = DATA / "show-bare.osprof"
        self.assert_refused(f"{bare} has no calls of X", "compare_cdf.py", bare, bare, "X")


if __name__ == "__main__":
    unittest.main()
