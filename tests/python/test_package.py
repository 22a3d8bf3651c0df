"""The package is whole: what it says that it has, what is installed, and what it needs."""

import ast
import re
import subprocess
import sys
import unittest

import osprof
from helpers import DATA, TESTS

SOURCES = TESTS.parent / "python"
MODULES = sorted((SOURCES / "osprof").glob("*.py"))
OLDEST = (3, 9)


class Package(unittest.TestCase):
    def test_all_modules_are_installed(self):
        listed = re.findall(r"'osprof/(\w+\.py)'", (SOURCES / "meson.build").read_text())
        self.assertEqual([module.name for module in MODULES], listed)

    def test_the_oldest_python_understands_it(self):
        for path in MODULES + sorted((SOURCES / "examples").glob("*.py")):
            ast.parse(path.read_text(), str(path), feature_version=OLDEST)

    @unittest.skipIf(sys.version_info < (3, 10), "this Python has no list of its modules")
    def test_it_needs_the_standard_library_only(self):
        for path in MODULES:
            for node in ast.walk(ast.parse(path.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names.append(node.module)
                for name in names:
                    self.assertIn(name.split(".")[0], sys.stdlib_module_names, path.name)

    def test_everything_has_a_doc_string(self):
        for name in osprof.__all__:
            self.assertTrue(getattr(osprof, name).__doc__, name)
        for path in MODULES:
            self.assertTrue(ast.get_docstring(ast.parse(path.read_text())), path.name)

    def test_the_examples_of_the_readme_run(self):
        readme = (SOURCES / "README.md").read_text()
        section = readme.split("## Reading a profile", 1)[1].split("##", 1)[0]
        program = "\n".join(re.findall(r"^    (.*)$", section, re.M))
        program = program.replace('"result"', repr(str(DATA / "plot-sampled.osprof")))
        self.assertIn("percentile", program)
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        self.assertGreater(len(done.stdout.splitlines()), 5)


if __name__ == "__main__":
    unittest.main()
