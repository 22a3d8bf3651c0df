"""The directory that all is done in."""

import os
import signal
import tempfile

from subjects import Trouble, mounts_below, remove_tree, unmount


def make_scratch(directory):
    directory = os.path.realpath(directory)
    if "," in directory or not os.path.isdir(directory):
        raise Trouble(f"--dir {directory}: must be a directory, with no comma in its path (mount options end there)")
    return tempfile.mkdtemp(prefix="osproffs-bench.", dir=directory)


def clean_up(scratch):
    """Leaves nothing behind, whatever was going on."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for path in reversed(mounts_below(scratch)):
        unmount(path)
    remove_tree(scratch)
