"""What else goes on on the machine during a run, and has nothing to do with it.

Use as a context manager: the processes are there inside, and gone after it.
"""

import os
import signal
import time

KINDS = ("quiet", "quiet", "cpu-1", "cpu-2", "bursts", "memory", "disk")


class Noise:
    def __init__(self, kind, directory):
        self.kind = kind
        self.directory = directory  # for files: of another file system than the profiled one
        self.children = []

    def __enter__(self):
        for load in {"quiet": [], "cpu-1": [_compute], "cpu-2": [_compute] * 2, "bursts": [_burst],
                     "memory": [_copy], "disk": [_write]}[self.kind]:
            self._start(load)
        return self

    def _start(self, load):
        child = os.fork()
        if child == 0:
            try:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                parent = os.getppid()
                load(lambda: os.getppid() == parent, self.directory)  # does not outlive who started it
            finally:
                os._exit(0)
        self.children.append(child)

    def __exit__(self, *_):
        for child in self.children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _compute(is_wanted, _):
    while is_wanted():
        sum(range(20000))


def _burst(is_wanted, _):
    """As long idle as at work, in turns of some milliseconds."""
    while is_wanted():
        end = time.monotonic() + 0.013
        while time.monotonic() < end:
            sum(range(2000))
        time.sleep(0.011)


def _copy(is_wanted, _):
    """Takes the processor's caches and the memory bus."""
    block = bytearray(os.urandom(1 << 20)) * 24
    while is_wanted():
        bytes(block)


def _write(is_wanted, directory):
    fd = os.open(f"{directory}/noise", os.O_CREAT | os.O_RDWR | os.O_TRUNC)
    block = os.urandom(1 << 18)
    while is_wanted():
        for number in range(8):
            os.pwrite(fd, block, number << 18)
        os.fsync(fd)
        time.sleep(0.002)
