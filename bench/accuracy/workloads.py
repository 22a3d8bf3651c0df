"""What is done in a mount while it is profiled: the same calls in every run, so that two runs are the same work.

A workload is given a directory of the mount to itself, and numbers (its parameters). Each has a function that prepares
that directory in the lower file system before it is mounted.
"""

import os
import random
import shutil
import subprocess

BIG_FILE_BYTES = 64 << 20
TREE_SOURCE = "/usr/include/linux"
TREE_FILES = 300
TREE_DIRECTORY_FILES = 6


# ---- Names: operations on many small files, one after the other ----

def prepare_names(directory, entries, **_):
    os.mkdir(f"{directory}/list")
    for number in range(entries):
        with open(f"{directory}/list/entry-{number:05}", "wb"):
            pass


def names(directory, iterations, entries, **_):
    payload = b"x" * 1000
    for number in range(iterations):
        path = f"{directory}/file-{number}"
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
        os.pwrite(fd, payload, 0)
        os.fsync(fd)
        os.close(fd)
        os.stat(path)
        os.chmod(path, 0o600)
        _ask_xattr(path)
        os.statvfs(directory)
        os.symlink("nowhere", path + ".link")
        os.readlink(path + ".link")
        os.mkdir(path + ".dir")
        os.rename(path, path + ".new")
        fd = os.open(path + ".new", os.O_RDONLY)
        os.pread(fd, 1000, 0)
        os.fstat(fd)
        os.close(fd)
        os.listdir(f"{directory}/list")
        os.unlink(path + ".new")
        os.unlink(path + ".link")
        os.rmdir(path + ".dir")


def _ask_xattr(path):
    try:
        os.getxattr(path, "user.none")
    except OSError:
        pass


# ---- Data: reads and writes at random places of one big file ----

def prepare_data(directory, **_):
    with open(f"{directory}/big", "wb") as big:
        block = os.urandom(1 << 20)
        for _ in range(BIG_FILE_BYTES >> 20):
            big.write(block)
        big.flush()
        os.fsync(big.fileno())


def data(directory, iterations, io_bytes, **_):
    """No place twice: what is read was not read or written before in this run."""
    chance = random.Random(4711)
    places = list(range(0, BIG_FILE_BYTES, io_bytes))
    chance.shuffle(places)
    payload = os.urandom(io_bytes)
    fd = os.open(f"{directory}/big", os.O_RDWR)
    for number in range(iterations):
        os.pread(fd, io_bytes, places[2 * number])
        os.pwrite(fd, payload, places[2 * number + 1])
        if number % 2 == 0:
            os.fsync(fd)
        os.stat(f"{directory}/big")
        os.close(os.open(f"{directory}/big", os.O_RDONLY))
    os.close(fd)


# ---- Tree: ordinary programs, with the kernel's caches as usual ----

def prepare_tree(directory, **_):
    """Copies some headers: a fixed number of files, six to a directory."""
    sources = sorted(entry.path for entry in os.scandir(TREE_SOURCE) if entry.is_file())[:TREE_FILES]
    for number, path in enumerate(sources):
        os.makedirs(f"{directory}/tree/{number // TREE_DIRECTORY_FILES}", exist_ok=True)
        shutil.copyfile(path, f"{directory}/tree/{number // TREE_DIRECTORY_FILES}/{os.path.basename(path)}")


def tree(directory, **_):
    _run("grep", "-r", "no such words", f"{directory}/tree")
    _run("cp", "-r", f"{directory}/tree", f"{directory}/copy")
    _run("find", f"{directory}/copy", "-size", "+1k", "-newer", f"{directory}/tree")
    _run("rm", "-r", f"{directory}/copy")


def _run(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=command[0] != "grep")


WORKLOADS = {"names": (prepare_names, names), "data": (prepare_data, data), "tree": (prepare_tree, tree)}


def prepare(workload, directory, processes, **parameters):
    for number in range(processes):
        os.mkdir(f"{directory}/{number}")
        WORKLOADS[workload][0](f"{directory}/{number}", **parameters)


def run(workload, directory, processes, **parameters):
    """By that many processes at once, each in a directory of its own."""
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                WORKLOADS[workload][1](f"{directory}/{number}", **parameters)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    failed = [child for child in children if os.waitpid(child, 0)[1] != 0]
    if failed:
        raise RuntimeError(f"the workload {workload} failed")
