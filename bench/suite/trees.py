"""Directory trees that workloads read: made once, natively, and shared by all subjects."""

import glob
import os
import subprocess

from subjects import Trouble

SOURCE_FILES_MIN = 8000


class Trees:
    def __init__(self, directory, tools, scale):
        self.directory = directory
        self.tools = tools
        self.scale = scale
        self.made = {}  # name → (path, what it is)

    def get(self, name):
        """The path of a tree, and what it is, in words."""
        if name not in self.made:
            path = os.path.join(self.directory, "tree-" + name)
            os.mkdir(path)
            makers = {"sources": self._sources, "linux": self._linux, "files": self._files}
            self.made[name] = (path, makers[name](path))
        return self.made[name]

    def _sources(self, path):
        copies = 0
        while _count_files(path) < SOURCE_FILES_MIN:
            copies += 1
            subprocess.run(["cp", "-a", "/usr/include", os.path.join(path, f"include{copies}")], check=True)
        times = f" {copies} times" if copies > 1 else ""
        return f"/usr/include{times}: {_describe(path)}"

    def _linux(self, path):
        archives = sorted(glob.glob("/usr/src/linux-source-*.tar.*"))
        if not archives:
            raise Trouble("no Linux sources in /usr/src: install Debian's package linux-source")
        subprocess.run(["tar", "-C", path, "-xf", archives[-1]], check=True)
        name = os.path.basename(archives[-1]).partition(".tar")[0]
        return f"{name}: {_describe(path)}"

    def _files(self, path):
        subprocess.run([self.tools.storm, "create", path, str(self.scale.many_files)], check=True, capture_output=True)
        return f"{self.scale.many_files:,} empty files in one directory"


def _count_files(path):
    return sum(len(files) for _, _, files in os.walk(path))


def _describe(path):
    size = int(subprocess.run(["du", "-sm", path], check=True, capture_output=True).stdout.split()[0])
    return f"{_count_files(path):,} files, {size} MB"
