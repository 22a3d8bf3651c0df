"""Lower file systems to profile: made for a capture, gone after it. Needs root."""

import contextlib
import os
import subprocess


class Tmpfs:
    def __init__(self, directory):
        self.directory = directory

    def __enter__(self):
        os.mkdir(self.directory)
        return self

    def __exit__(self, *_):
        pass  # the capture removes its directories

    def chill(self):
        raise ValueError("what is in memory only cannot be cold")


class Ext4:
    """In an image file, through a loop device that does not cache: what is cold comes from where the image is."""

    def __init__(self, directory, image, size_bytes=256 << 20):
        self.directory = directory
        self.image = image
        self.size_bytes = size_bytes
        self.device = None
        self.stack = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            os.mkdir(self.directory)
            with open(self.image, "wb") as image:
                image.truncate(self.size_bytes)
            _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image)
            # Files of a tmpfs cannot be read directly, and need not be
            direct = "off" if _file_system(self.image) == "tmpfs" else "on"
            self.device = _run("losetup", f"--direct-io={direct}", "--find", "--show", self.image).strip()
            stack.callback(_run, "losetup", "--detach", self.device)
            _run("mount", self.device, self.directory)
            stack.callback(self._unmount)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _unmount(self):
        if os.path.ismount(self.directory):
            _run("umount", self.directory)

    def chill(self):
        """Leaves nothing of it in the caches."""
        _run("umount", self.directory)
        _run("mount", self.device, self.directory)


def _run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _file_system(path):
    return _run("stat", "--file-system", "--format=%T", path).strip()
