"""Counts the calls in traces of strace -ff -y -v that are told to be on a file system, by the rules of osprof-attach(1).

    strace_counts.py [--not-told] DIR MAJOR:MINOR TRACE...

DIR is where the file system is mounted; it has the current directory of all programs. Prints "OP CALLS" lines; with
--not-told one line, "CALLS FAILED", of calls that may be there or on any other file system.
"""

import argparse
import collections
import os.path
import re

FD = """close CLOSE,read READ,write WRITE,pread64 PREAD,pwrite64 PWRITE,readv READV,writev WRITEV,preadv PREADV,pwritev PWRITEV,
preadv2 PREADV,pwritev2 PWRITEV,lseek LSEEK,fstat FSTAT,fstatfs STATFS,fsync FSYNC,fdatasync FDATASYNC,syncfs SYNCFS,
sync_file_range SYNC_FILE_RANGE,ftruncate FTRUNCATE,fallocate FALLOCATE,fadvise64 FADVISE,fchmod CHMOD,fchown CHOWN,
fgetxattr GETXATTR,fsetxattr SETXATTR,flistxattr LISTXATTR,fremovexattr REMOVEXATTR,flock FLOCK,getdents64 GETDENTS,
copy_file_range COPY_FILE_RANGE,splice SPLICE,sendfile SENDFILE,mmap MMAP,readahead FADVISE,cachestat FADVISE,ioctl IOCTL,
fchdir CHDIR"""
# calls by names of entries of directories
ENTRY = """rename RENAME,renameat RENAME,renameat2 RENAME,unlink UNLINK,unlinkat UNLINK,mkdir MKDIR,mkdirat MKDIR,rmdir RMDIR,
mknod MKNOD,mknodat MKNOD"""
SECOND = "link LINK,linkat LINK,symlink SYMLINK,symlinkat SYMLINK"
# and by other names
NAME = """access ACCESS,faccessat ACCESS,faccessat2 ACCESS,statfs STATFS,truncate TRUNCATE,chmod CHMOD,fchmodat CHMOD,chown CHOWN,
fchownat CHOWN,utimensat UTIMENS,utimes UTIMENS,futimesat UTIMENS,getxattr GETXATTR,setxattr SETXATTR,listxattr LISTXATTR,
removexattr REMOVEXATTR,readlink READLINK,readlinkat READLINK,lchown CHOWN,lgetxattr GETXATTR,lsetxattr SETXATTR,
llistxattr LISTXATTR,lremovexattr REMOVEXATTR,chdir CHDIR,name_to_handle_at STAT"""
STAT = "stat STAT,lstat STAT,newfstatat STAT,statx STATX"
OPEN = ("open", "openat", "creat", "openat2", "open_by_handle_at")
ADVICE = re.compile("MADV_(WILLNEED|REMOVE|PAGEOUT|POPULATE_READ|POPULATE_WRITE)")
NOT_TOLD = "not told"
LINE = re.compile(r"^(\w+)\((.*)\) += (-?\d+(?:x[0-9a-f]+)?|\?)(?:<([^>]*)>)?")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
DESCRIPTOR = re.compile(r"(?:^|[ ,])(?:\d+|AT_FDCWD)<([^>]*)>")

ADDRESS = re.compile(r"^0x[0-9a-f]+")
LENGTH = re.compile(r"^[^,]*, (\d+)")
DESCRIPTOR_LINK = re.compile(r'"/proc/self/fd/(\d+)"')


def table(text):
    return dict(row.split() for row in text.replace("\n", "").split(","))


def is_below(path, top):
    return path == top or path.startswith(top + "/")


def told_by_name(op, name, directory, top):
    """The operation if the name leads below the top, where no symbolic link leads away; else None."""
    return op if name and is_below(os.path.normpath(os.path.join(directory, name)), top) else None


def told_by_entry(op, name, directory, top):
    return told_by_name(op, name and (os.path.dirname(name.rstrip("/")) or "."), directory, top)


def device_of(arguments):
    found = re.search(r"st_dev=makedev\((0x[0-9a-f]+|0), (0x[0-9a-f]+|0)\)", arguments) or re.search(
        r"stx_dev_major=(0x[0-9a-f]+|\d+), stx_dev_minor=(0x[0-9a-f]+|\d+)", arguments
    )
    return found and (int(found[1], 0), int(found[2], 0))


class Mappings:
    """Which files are mapped where."""

    def __init__(self):
        self.mapped = []

    def note(self, arguments, address):
        path = DESCRIPTOR.search(arguments)
        self.mapped.append((address, address + int(LENGTH.match(arguments)[1]), path[1] if path else ""))

    def path_at(self, arguments):
        address = int(ADDRESS.match(arguments)[0], 0)
        return next((path for begin, end, path in reversed(self.mapped) if begin <= address < end), None)


def told(call, arguments, result, result_path, mappings, top, device):
    """The operation, None if it is of another file system or not counted at all, or NOT_TOLD."""
    strings = STRING.findall(arguments)
    paths = DESCRIPTOR.findall(arguments)
    directory = paths[0] if paths else top
    name = strings[0] if strings else ""
    if call in table(FD):
        return table(FD)[call] if any(is_below(path, top) for path in paths) else None
    if call == "fcntl":
        return "LOCK" if re.search(r"F_(OFD_)?(GETLK|SETLKW?)", arguments) and is_below(directory, top) else None
    if call == "sync":
        return "SYNCFS"
    if call == "msync" or (call == "madvise" and ADVICE.search(arguments)):
        mapped = mappings.path_at(arguments)
        return NOT_TOLD if mapped is None else {"msync": "MSYNC", "madvise": "FADVISE"}[call] if is_below(mapped, top) else None
    if call == "inotify_add_watch":
        return told_by_name("ACCESS", name, top, top)
    if call in OPEN and result >= 0:
        return "OPEN" if is_below(result_path, top) else None
    if call in OPEN:
        return told_by_name("OPEN", name, directory, top)
    if call in table(STAT):
        is_itself = not name and "AT_EMPTY_PATH" in arguments
        op = "FSTAT" if is_itself and call == "newfstatat" else table(STAT)[call]
        if result == 0 and not is_itself:
            return op if device_of(arguments) == device else None
        return told_by_name(op, "." if is_itself else name, directory, top)
    if call in table(ENTRY):
        op = "RMDIR" if call == "unlinkat" and "AT_REMOVEDIR" in arguments else table(ENTRY)[call]
        return told_by_entry(op, name, directory, top)
    if call in table(SECOND):
        return told_by_entry(table(SECOND)[call], strings[1], paths[-1] if paths else top, top)
    if call in table(NAME):
        is_itself = call == "utimensat" and not strings
        return told_by_name(table(NAME)[call], "." if is_itself else name, directory, top)
    return None


def ended_calls(paths):
    """Of each call its name, arguments, result, what the result names, and what was mapped then. Links of descriptors are
    what they lead to."""
    for path in paths:
        opened = {}
        mappings = Mappings()
        with open(path, encoding="utf-8", errors="surrogateescape") as trace:
            for line in trace:
                found = LINE.match(line)
                if not found or found[3] == "?":
                    continue
                call, result, result_path = found[1], int(found[3], 16 if "x" in found[3] else 10), found[4] or ""
                if call in OPEN and result >= 0:
                    opened[result] = result_path
                if call == "mmap" and result >= 0:
                    mappings.note(found[2], result)
                arguments = DESCRIPTOR_LINK.sub(lambda link: f'"{opened.get(int(link[1]), link[0])}"', found[2])
                yield call, arguments, result, result_path, mappings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--not-told", action="store_true")
    parser.add_argument("top")
    parser.add_argument("device", type=lambda text: tuple(int(number) for number in text.split(":")))
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    counts = collections.Counter()
    failed = 0
    for call, arguments, result, result_path, mappings in ended_calls(options.traces):
        op = told(call, arguments, result, result_path, mappings, options.top, options.device)
        counts[op] += 1
        failed += op == NOT_TOLD and result < 0
    if options.not_told:
        print(counts[NOT_TOLD], failed)
        return
    for op in sorted(op for op in counts if op not in (None, NOT_TOLD)):
        print(op, counts[op])


main()
