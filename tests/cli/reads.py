"""reads.py FILE KIND: reads a file, and prints how many bytes of that should be in the page cache, of how many; - : not judged."""

import mmap
import os
import random
import subprocess
import sys
import threading

PAGE = mmap.PAGESIZE
path, kind = sys.argv[1], sys.argv[2]
fd = os.open(path, os.O_RDONLY)
size = os.fstat(fd).st_size


def drop():
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def resident():
    return min(size, int(subprocess.check_output(["fincore", "-nb", "-o", "RES", path])))


def read_all(step):
    os.lseek(fd, 0, os.SEEK_SET)
    while os.read(fd, step):
        pass


def cold(step):
    drop()
    read_all(step)
    return 0, size


def warm():
    read_all(100000)
    return size, size


def cold_at_once():
    drop()
    assert len(os.pread(fd, 2 * size, 0)) == size
    return 0, size


def half():
    """Without reads: it is written."""
    drop()
    with open(path, "r+b", buffering=0) as file:
        file.write(bytes(size // 2))
    there = resident()
    assert size // 3 < there < size * 2 // 3, there
    read_all(65536)
    return there, size


def at_random(passes):
    """Each page is missed once, also if another call has read it ahead."""
    drop()
    pages = [random.Random(7).randrange(size // PAGE) for _ in range(499)]
    for _ in range(passes):
        for page in pages:
            os.preadv(fd, [bytearray(PAGE)], page * PAGE)
    return (len(pages) * passes - len(set(pages))) * PAGE, len(pages) * passes * PAGE


def again_and_again():
    """The beginning of a file, of which more is read ahead."""
    drop()
    for _ in range(50):
        os.pread(fd, PAGE, 0)
    return 49 * PAGE, 50 * PAGE


def two_files():
    """In turns, one of them cached."""
    with open(path + ".other", "wb") as other:
        other.write(bytes(size))
    drop()
    with open(path + ".other", "rb", buffering=0) as other:
        os.lseek(fd, 0, os.SEEK_SET)
        while os.read(fd, 5000):
            other.read(5000)
    os.unlink(path + ".other")
    return size, 2 * size


def threads():
    drop()

    def read(first):
        for position in range(first, size, 4 * 9 * PAGE):
            os.pread(fd, 9 * PAGE, position)

    readers = [threading.Thread(target=read, args=(i * 9 * PAGE,)) for i in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return 0, size


def mapped():
    drop()
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as memory:
        sum(memory[::PAGE])
    read_all(65536)
    return size, size


def direct():
    drop()
    with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_DIRECT)) as file:
        memory = mmap.mmap(-1, 1 << 20)
        while file.readinto(memory):
            pass


kinds = {
    "cold": lambda: cold(65536),
    "in_pieces": lambda: cold(700),
    "at_once": cold_at_once,
    "warm": warm,
    "half": half,
    "at_random": lambda: at_random(1),
    "at_random_twice": lambda: at_random(2),
    "again_and_again": again_and_again,
    "two_files": two_files,
    "threads": threads,
    "mapped": mapped,
    "direct": direct,
}
result = kinds[kind]()
print(*(result or "-"))
