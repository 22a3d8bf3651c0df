"""Directory trees that workloads read: made once, natively, and shared by all subjects."""

import glob
import os
import shutil
import subprocess

from subjects import Trouble

SOURCE_FILES = 8009  # some peers hold a descriptor for each


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
        wanted = SOURCE_FILES
        copies = 0
        while wanted > 0:
            copies += 1
            wanted -= _copy_files("/usr/include", os.path.join(path, f"include{copies}"), wanted)
        times = f", {copies} times" if copies > 1 else ""
        return f"of /usr/include{times}: {_describe(path)}"

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


def _copy_files(source, target, most):
    """Copies a tree, or its first `most` files. Returns how many it copied."""
    copied = 0
    for directory, subdirectories, names in os.walk(source):
        subdirectories.sort()
        place = os.path.join(target, os.path.relpath(directory, source))
        os.makedirs(place, exist_ok=True)
        for name in sorted(names)[: most - copied]:
            shutil.copy2(os.path.join(directory, name), place, follow_symlinks=False)
            copied += 1
        if copied == most:
            break
    return copied


def _count_files(path):
    return sum(len(files) for _, _, files in os.walk(path))


def _describe(path):
    size = int(subprocess.run(["du", "-sm", path], check=True, capture_output=True).stdout.split()[0])
    return f"{_count_files(path):,} files, {size} MB"
