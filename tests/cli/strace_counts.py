"""Counts the calls in traces of strace -ff -y -v that are told to be on a file system, by the rules of osprof-attach(1).

    strace_counts.py DIR MAJOR:MINOR TRACE...

DIR is where the file system is mounted; it has the current directory of all programs. Prints "OP CALLS" lines.
"""

import collections
import re
import sys

FD = """close CLOSE,read READ,write WRITE,pread64 PREAD,pwrite64 PWRITE,readv READV,writev WRITEV,preadv PREADV,pwritev PWRITEV,
preadv2 PREADV,pwritev2 PWRITEV,lseek LSEEK,fstat FSTAT,fstatfs STATFS,fsync FSYNC,fdatasync FDATASYNC,syncfs SYNCFS,
sync_file_range SYNC_FILE_RANGE,ftruncate FTRUNCATE,fallocate FALLOCATE,fadvise64 FADVISE,fchmod CHMOD,fchown CHOWN,
fgetxattr GETXATTR,fsetxattr SETXATTR,flistxattr LISTXATTR,fremovexattr REMOVEXATTR,flock FLOCK,getdents64 GETDENTS,
copy_file_range COPY_FILE_RANGE,splice SPLICE,sendfile SENDFILE,mmap MMAP"""
ENTRY = """rename RENAME,renameat RENAME,renameat2 RENAME,unlink UNLINK,unlinkat UNLINK,mkdir MKDIR,mkdirat MKDIR,rmdir RMDIR,
readlink READLINK,readlinkat READLINK,mknod MKNOD,mknodat MKNOD,lchown CHOWN,lgetxattr GETXATTR,llistxattr LISTXATTR"""
SECOND = "link LINK,linkat LINK,symlink SYMLINK,symlinkat SYMLINK"
NAME = """access ACCESS,faccessat ACCESS,faccessat2 ACCESS,statfs STATFS,truncate TRUNCATE,chmod CHMOD,fchmodat CHMOD,chown CHOWN,
fchownat CHOWN,utimensat UTIMENS,getxattr GETXATTR,setxattr SETXATTR,listxattr LISTXATTR,removexattr REMOVEXATTR"""
LINE = re.compile(r"^(\w+)\((.*)\) += (-?\d+|\?)(?:<([^>]*)>)?")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
DESCRIPTOR = re.compile(r"(?:^|[ ,])(?:\d+|AT_FDCWD)<([^>]*)>")


def table(text):
    return dict(row.split() for row in text.replace("\n", "").split(","))


def is_below(path, top):
    return path == top or path.startswith(top + "/")


def is_entry(name, directory, top):
    """One component in a directory that is on the file system."""
    return bool(name) and "/" not in name and name != ".." and is_below(directory, top)


def device_of(arguments):
    found = re.search(r"st_dev=makedev\((0x[0-9a-f]+|0), (0x[0-9a-f]+|0)\)", arguments) or re.search(
        r"stx_dev_major=(0x[0-9a-f]+|\d+), stx_dev_minor=(0x[0-9a-f]+|\d+)", arguments
    )
    return found and (int(found[1], 0), int(found[2], 0))


def told(call, arguments, result, result_path, top, device):
    """The operation; None if it is of another file system, or not told."""
    strings = STRING.findall(arguments)
    paths = DESCRIPTOR.findall(arguments)
    directory = paths[0] if paths else top
    name = strings[0] if strings else None
    if call in table(FD):
        return table(FD)[call] if any(is_below(path, top) for path in paths) else None
    if call == "fcntl":
        return "LOCK" if re.search(r"F_(OFD_)?(GETLK|SETLKW?)", arguments) and is_below(directory, top) else None
    if call in ("open", "openat", "creat", "openat2"):
        if result >= 0:
            return "OPEN" if is_below(result_path, top) else None
        is_told = name == "." or ("O_NOFOLLOW" in arguments and is_entry(name, directory, top))
        return "OPEN" if is_told else None
    if call in ("stat", "lstat", "newfstatat", "statx"):
        op = "STATX" if call == "statx" else "STAT"
        if name == "" and "AT_EMPTY_PATH" in arguments:
            op = "STATX" if call == "statx" else "FSTAT"
            return op if is_below(directory, top) else None
        follows = call == "stat" or (call != "lstat" and "AT_SYMLINK_NOFOLLOW" not in arguments)
        if result == 0:
            return op if device_of(arguments) == device else None
        is_told = name == "." or (not follows and is_entry(name, directory, top))
        return op if is_told and is_below(directory, top) else None
    if call in table(ENTRY):
        is_directory = call == "unlinkat" and "AT_REMOVEDIR" in arguments
        op = "RMDIR" if is_directory else table(ENTRY)[call]
        return op if is_entry(name, directory, top) else None
    if call in table(SECOND):
        directory = paths[-1] if paths else top
        return table(SECOND)[call] if is_entry(strings[1], directory, top) else None
    if call in table(NAME):
        follows = "AT_SYMLINK_NOFOLLOW" not in arguments
        is_told = name == "." or (not follows and is_entry(name, directory, top))
        return table(NAME)[call] if is_told and is_below(directory, top) else None
    return None


def main():
    top = sys.argv[1]
    device = tuple(int(number) for number in sys.argv[2].split(":"))
    counts = collections.Counter()
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8", errors="surrogateescape") as trace:
            for line in trace:
                found = LINE.match(line)
                if not found or found[3] == "?":
                    continue
                op = told(found[1], found[2], int(found[3]), found[4] or "", top, device)
                if op:
                    counts[op] += 1
    for op, count in sorted(counts.items()):
        print(op, count)


main()
