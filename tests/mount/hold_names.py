"""What programs hold of files without having them open, while everything else in a directory is looked at.

hold_names.py DIRECTORY BELOW: works in DIRECTORY, prints what comes of it. BELOW is the same directory on the lower file
system, where things are renamed and removed behind the mount's back. A run with both the same says what is right."""
import ctypes
import os
import select
import stat
import struct
import sys

top, below = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
IN_CREATE, IN_ATTRIB, IN_DELETE_SELF = 0x100, 0x4, 0x400


def look_at_all():
    """More files than the daemon has descriptors, each held by something that needs one."""
    for number in range(307):
        os.close(os.open(f"{top}/many/{number}", os.O_RDONLY))
    for number in range(307):
        os.listdir(f"{top}/dirs/{number}")


def attempt(what, call):
    try:
        result = call()
    except OSError as error:
        result = error.strerror
    print(what + ":", result, flush=True)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def hold(path):
    return os.open(path, os.O_PATH | os.O_NOFOLLOW)


def read_held(fd):
    with open(f"/proc/self/fd/{fd}") as file:
        return file.read()


def size_and_links(fd):
    attr = os.fstat(fd)
    return attr.st_size, attr.st_nlink, stat.filemode(attr.st_mode)


def held_files():
    write(f"{top}/plain", "plain")
    write(f"{top}/removed", "removed")
    write(f"{top}/replaced", "old")
    write(f"{top}/replacing", "newer")
    write(f"{top}/moved", "moved")
    os.symlink("plain", f"{top}/link")
    os.mkfifo(f"{top}/fifo")
    held = {name: hold(f"{top}/{name}") for name in
            ("plain", "removed", "replaced", "replacing", "moved", "link", "fifo")}
    look_at_all()
    os.unlink(f"{top}/removed")
    os.unlink(f"{top}/link")
    os.unlink(f"{top}/fifo")
    os.rename(f"{top}/replacing", f"{top}/replaced")
    os.rename(f"{top}/moved", f"{top}/dirs/0/moved")
    look_at_all()
    for name, fd in held.items():
        attempt("held " + name, lambda: size_and_links(fd))
        if name not in ("link", "fifo"):
            attempt("read " + name, lambda: read_held(fd))
    attempt("held link leads", lambda: os.readlink("", dir_fd=held["link"]))
    attempt("chmod held", lambda: os.chmod(f"/proc/self/fd/{held['removed']}", 0o640))
    attempt("mode", lambda: size_and_links(held["removed"]))
    for fd in held.values():
        os.close(fd)


def exchanged():
    write(f"{top}/one", "one")
    write(f"{top}/other", "the other")
    fds = hold(f"{top}/one"), hold(f"{top}/other")
    look_at_all()
    if libc.renameat2(-100, f"{top}/one".encode(), -100, f"{top}/other".encode(), 2) < 0:
        attempt("exchange", lambda: os.strerror(ctypes.get_errno()))
    look_at_all()
    for name, fd in zip(("one", "other"), fds):
        attempt("exchanged " + name, lambda: read_held(fd))
    os.unlink(f"{top}/one")
    look_at_all()
    for name, fd in zip(("one", "other"), fds):
        attempt("one of them removed: " + name, lambda: read_held(fd))
        os.close(fd)


def hard_links():
    write(f"{top}/name", "linked")
    fd = hold(f"{top}/name")
    os.link(f"{top}/name", f"{top}/dirs/1/second")
    os.link(f"{top}/dirs/1/second", f"{top}/dirs/2/third")
    look_at_all()
    attempt("three names", lambda: size_and_links(fd))
    for name in ("dirs/2/third", "name"):
        os.unlink(f"{top}/{name}")
        look_at_all()
        attempt(f"without {name}", lambda: (size_and_links(fd), read_held(fd)))
    os.rename(f"{top}/dirs/1/second", f"{top}/last")
    look_at_all()
    attempt("renamed", lambda: read_held(fd))
    attempt("by its name", lambda: open(f"{top}/last").read())
    os.unlink(f"{top}/last")
    look_at_all()
    attempt("without any", lambda: (size_and_links(fd), read_held(fd)))
    os.close(fd)


def open_files():
    fd = os.open(f"{top}/open", os.O_RDWR | os.O_CREAT, 0o644)
    unnamed = os.open(top, os.O_RDWR | os.O_TMPFILE, 0o600)
    os.write(unnamed, b"unnamed")
    os.write(fd, b"text")
    os.unlink(f"{top}/open")
    look_at_all()
    attempt("open and removed", lambda: (os.pread(fd, 10, 0), size_and_links(fd)))
    attempt("opened again", lambda: read_held(fd))
    attempt("never named", lambda: read_held(unnamed))
    path_only = os.open(f"/proc/self/fd/{unnamed}", os.O_PATH)
    os.close(unnamed)
    look_at_all()
    attempt("never named, held", lambda: read_held(path_only))
    os.close(path_only)
    os.close(fd)


def working_directory():
    os.makedirs(f"{top}/a/b/c")
    write(f"{top}/a/b/c/file", "deep")
    os.chdir(f"{top}/a/b/c")
    look_at_all()
    attempt("there", lambda: os.listdir("."))
    os.rename(f"{top}/a", f"{top}/x")
    look_at_all()
    attempt("renamed above", lambda: (os.listdir("."), open("file").read()))
    os.rename(f"{below}/x/b", f"{below}/x/y")
    look_at_all()
    attempt("renamed below the mount", lambda: (os.listdir("."), open("file").read()))
    os.rename(f"{below}/x/y/c", f"{below}/x/y/z")
    look_at_all()
    attempt("it itself renamed below the mount", lambda: (os.listdir("."), open("file").read()))
    write("new", "made here")
    attempt("what was made there", lambda: open(f"{below}/x/y/z/new").read())
    os.mkdir("../removed")
    os.chdir("../removed")
    look_at_all()
    os.rmdir("../removed")
    look_at_all()
    attempt("removed directory", lambda: (os.listdir("."), size_and_links(os.open(".", os.O_PATH))))
    os.chdir("/")


def open_directories():
    """Who has a directory open works in it, even if it may not search what is above, and wherever it was moved below."""
    os.makedirs(f"{top}/closed/open/inner")
    os.makedirs(f"{top}/closed/moved/inner")
    fds = [os.open(f"{top}/closed/{name}", os.O_RDONLY) for name in ("open", "open/inner", "moved", "moved/inner")]
    os.rename(f"{below}/closed/moved", f"{below}/dirs/3/moved")
    os.chmod(f"{top}/closed", 0)
    look_at_all()
    for fd in fds:
        attempt("make in it", lambda: os.mkdir("new", dir_fd=fd))
        look_at_all()
        attempt("list it", lambda: sorted(os.listdir(fd)))
        look_at_all()
        attempt("look there", lambda: stat.filemode(os.stat("new", dir_fd=fd).st_mode))
        look_at_all()
        attempt("its mode", lambda: os.fchmod(fd, 0o700))
        attempt("removed", lambda: os.rmdir("new", dir_fd=fd))
        os.close(fd)
    os.chmod(f"{top}/closed", 0o700)


def watched():
    os.makedirs(f"{top}/watched")
    write(f"{top}/watched/file", "text")
    fd = libc.inotify_init()
    for path, mask in ((f"{top}/watched", IN_CREATE), (f"{top}/watched/file", IN_ATTRIB | IN_DELETE_SELF)):
        libc.inotify_add_watch(fd, path.encode(), mask)
    look_at_all()
    write(f"{top}/watched/new", "")
    os.chmod(f"{top}/watched/file", 0o600)
    look_at_all()
    os.unlink(f"{top}/watched/file")
    masks = []
    while select.select([fd], [], [], 0.5)[0]:
        data = os.read(fd, 4096)
        while data:
            _, mask, _, length = struct.unpack_from("iIII", data)
            masks.append(hex(mask))
            data = data[16 + length:]
    attempt("watched", lambda: masks)
    os.close(fd)


def removed_below():
    """A file that is replaced below is the new one by name, and the old one for who holds it, or gone."""
    for number in range(5):
        write(f"{top}/below{number}", "old")
    fds = [hold(f"{top}/below{number}") for number in range(5)]
    for number in range(5):
        write(f"{below}/new", f"new {number}")
        os.rename(f"{below}/new", f"{below}/below{number}")
    attempt("replaced below", lambda: [open(f"{top}/below{number}").read() for number in range(5)])
    look_at_all()
    attempt("and later", lambda: [open(f"{top}/below{number}").read() for number in range(5)])
    for fd in fds:
        os.close(fd)


os.makedirs(f"{top}/many")
for number in range(307):
    write(f"{top}/many/{number}", "")
for number in range(307):
    os.makedirs(f"{top}/dirs/{number}")
for part in (held_files, exchanged, hard_links, open_files, working_directory, open_directories, watched, removed_below):
    try:
        part()
    except OSError as error:
        print(part.__name__, "ended by", error)
