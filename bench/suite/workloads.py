"""What is measured. A workload runs commands on a directory, which is a fresh mount over a fresh or prepared lower one:
FUSE's caches are cold, the lower file system's are warm. Its value is the elapsed time, unless `value` says otherwise.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Callable, Optional

from subjects import Trouble

COMMAND_PATIENCE_S = 3600
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Scale:
    """How much work there is."""

    postmark_files: int
    postmark_transactions: int
    storm_files: int  # some peers hold a descriptor for each
    many_files: int  # of the tree that memory per inode is measured with
    file_megabytes: int  # of sequential I/O
    random_megabytes: int  # of random I/O
    round_trip_s: float


QUICK = Scale(503, 5003, 5003, 10007, 128, 32, 0.2)
NORMAL = Scale(2003, 20011, 15013, 100003, 512, 128, 0.5)
FULL = Scale(20000, 200000, 100003, 1000003, 2048, 512, 1.0)  # Postmark as in thesis Figure 6.1


class Place:
    """Where a workload runs, and with what."""

    def __init__(self, directory, scratch, tools, scale, cpu=None):
        self.directory = directory
        self.scratch = scratch  # outside what is measured
        self.tools = tools
        self.scale = scale
        self.pin = ["taskset", "-c", str(cpu)] if cpu is not None else []
        self.requests = None  # that the workload made, where it knows

    def run(self, *command, accept=(0,), complains=True, **keywords):
        """Runs a command to its end and gives its output, which went to a file: nobody reads along. It fails by its
        exit status, and, unless it is one that complains, by the first word on its standard error."""
        path = os.path.join(self.scratch, "output")
        with open(path, "w+") as output, open(os.path.join(self.scratch, "errors"), "w+") as errors:
            signal.alarm(COMMAND_PATIENCE_S)
            result = subprocess.run(self.pin + list(command), stdout=output, stderr=errors,
                                    env=dict(os.environ, LC_ALL="C"), **keywords)
            signal.alarm(0)
            errors.seek(0)
            complaint = errors.readline().strip()
            if result.returncode not in accept or (complaint and not complains):
                raise Trouble(f"{os.path.basename(command[0])}: {complaint or f'status {result.returncode}'}")
            output.seek(0)
            return output.read(MEGABYTE)


@dataclass(frozen=True)
class Workload:
    name: str
    what: str
    run: Callable  # (place) → None or the value
    unit: str = "s"
    higher_is_better: bool = False
    tree: Optional[str] = None  # read-only, shared; else the lower directory is new and empty
    prepare: Callable = lambda place: None  # on the lower directory, before mounting
    before: Callable = lambda place: None  # through the mount, not measured
    value: Optional[Callable] = None  # (record) → the value, if neither elapsed time nor what run returns
    pinned: str = "free"  # daemon and client: free, together (on one CPU) or apart (on two)
    needs: tuple = ()  # commands
    megabytes: Callable = lambda scale: 256  # of the system's memory that it uses, roughly
    by_default: bool = True
    has_native: bool = True
    is_speed: bool = True  # counts when subjects are compared on the whole


# ---- Trees ----


def find(place):
    place.run("find", place.directory, "-printf", "%s\n")


def list_all(place):
    place.run("ls", "-lR", place.directory)


def list_names(place):
    place.run("find", place.directory, "-name", "no such name")


def scan(percent):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scan.py")

    def run(place):
        place.run(sys.executable, script, place.directory, str(percent))

    return run


def grep(place):
    place.run("grep", "-r", "mutex", place.directory, accept=(0, 1))


def memory_per_inode(record):
    if record.resident_before_bytes is None:
        return None
    return (record.resident_after_bytes - record.resident_before_bytes) / record.scale.many_files


TREE_WORKLOADS = [
    Workload("find", "find -printf %s", find, tree="sources"),
    Workload("find-again", "the same a second time on one mount", find, tree="sources", before=find),
    Workload("ls", "ls -lR", list_all, tree="sources"),
    Workload("names", "find -name, which needs no attributes", list_names, tree="sources"),
    Workload("scan-10", "listing one directory, with stat of 10 % of its files", scan(10), tree="files"),
    Workload("scan-30", "with stat of 30 %", scan(30), tree="files", by_default=False),
    Workload("scan-50", "with stat of 50 %", scan(50), tree="files", by_default=False),
    Workload("scan-100", "with stat of all", scan(100), tree="files", by_default=False),
    Workload("grep", "grep -r", grep, tree="sources"),
    Workload("grep-again", "the same a second time on one mount", grep, tree="sources", before=grep),
    Workload("grep-linux", "grep -r over the Linux sources", grep, tree="linux", by_default=False),
    Workload("memory", "the daemon's memory per inode: growth of its resident set by find", find, "bytes/inode",
             tree="files", value=memory_per_inode, has_native=False, is_speed=False),
    Workload("mount", "from starting the daemon to the first stat that is answered", lambda place: None, "ms",
             value=lambda record: record.mount_s and record.mount_s * 1e3, has_native=False,
             is_speed=False),
    Workload("unmount", "from umount to the daemon's end, the kernel knowing many inodes", find, "ms", tree="sources",
             value=lambda record: record.unmount_s and record.unmount_s * 1e3, has_native=False,
             is_speed=False),
]


# ---- Storms: one kind of call on many empty files of one directory ----

FEW_FILES = 1009


def storm(action, threads=1, files_of=lambda scale: scale.storm_files):
    def run(place):
        command = (place.tools.storm, action, place.directory, str(files_of(place.scale)), str(threads))
        return float(place.run(*command))

    return run


def few_files(_):
    return FEW_FILES


def many_files(scale):
    return scale.many_files


def storm_workloads():
    create = storm("create")
    for threads in (1, 4, 64):
        suffix = "" if threads == 1 else f"-{threads}"
        who = "" if threads == 1 else f", {threads} threads"
        yield Workload("create" + suffix, "creating and closing empty files" + who, storm("create", threads), "µs/file")
        yield Workload("stat" + suffix, "stat of files not known yet" + who, storm("stat", threads), "µs/file",
                       prepare=create)
        yield Workload("unlink" + suffix, "removing files just created" + who, storm("unlink", threads), "µs/file",
                       before=create)
    yield Workload("stat-few", f"stat of {FEW_FILES:,} files not known yet", storm("stat", 1, few_files), "µs/file",
                   prepare=storm("create", 1, few_files))
    yield Workload("stat-many", "stat of files not known yet", storm("stat", 1, many_files), "µs/file", tree="files")


# ---- Round trip ----


def round_trip(threads):
    def run(place):
        place.requests = 0
        command = (place.tools.round_trip, place.directory, str(threads), str(place.scale.round_trip_s))
        _, per_request_us, requests = place.run(*command).split()
        place.requests = int(requests)
        return float(per_request_us)

    return run


def round_trip_workloads():
    for threads in (1, 2, 4, 8):
        clients = "1 thread" if threads == 1 else f"{threads} threads"
        yield Workload(f"round-trip-{threads}", f"one request that always reaches the daemon, {clients}",
                       round_trip(threads), "µs/request")
        yield Workload(f"round-trip-{threads}-pinned", f"the same, {clients} and the daemon on one CPU",
                       round_trip(threads), "µs/request", pinned="together")
    yield Workload("round-trip-1-apart", "the same, 1 thread and the daemon each on a CPU of their own",
                   round_trip(1), "µs/request", pinned="apart")


# ---- Postmark, after thesis Figure 6.1 ----


def postmark(place):
    script = os.path.join(place.scratch, "postmark.script")
    with open(script, "w") as file:
        file.write(f"""\
set size 512 10240
set number {place.scale.postmark_files}
set seed 42
set transactions {place.scale.postmark_transactions}
set location {place.directory}
set subdirectories {max(1, place.scale.postmark_files * 600 // 20000)}
set read 4096
set write 4096
set buffering false
set bias read 5
set bias create 5
run
quit
""")
    place.run("postmark", script, complains=False)  # its exit status tells nothing


# ---- fio: one pass over a file per job, all jobs together as much as one alone ----


def fio_files(jobs, megabytes_of):
    """Files to read, made natively."""

    def prepare(place):
        for job in range(jobs):
            with open(os.path.join(place.directory, f"data.{job}"), "wb") as file:
                for _ in range(megabytes_of(place.scale) // jobs):
                    file.write(os.urandom(4096) * (MEGABYTE // 4096))

    return prepare


def fio(mode, jobs, megabytes_of, *arguments):
    """Gives what fio reports: MB/s of sequential I/O, thousands of operations per second of random I/O."""
    side = "write" if "write" in mode else "read"
    figure, unit = ("iops", 1e3) if "rand" in mode else ("bw_bytes", 1e6)

    def run(place):
        output = place.run(
            "fio", "--name=job", f"--directory={place.directory}", "--filename_format=data.$jobnum", f"--rw={mode}",
            f"--size={megabytes_of(place.scale) // jobs}M", f"--numjobs={jobs}", "--ioengine=psync",
            "--fallocate=none", "--thread", "--group_reporting", "--output-format=json", *arguments, cwd=place.scratch)
        return json.loads(output[output.index("{"):])["jobs"][0][side][figure] / unit

    return run


def fio_workload(name, mode, jobs, direct=False, depth=1):
    """fio's name of the mode says what is done; see fio_workloads. depth: how many requests a job has under way."""
    is_random = "rand" in mode
    megabytes_of = random_megabytes if is_random else sequential_megabytes
    kind = ("random" if is_random else "sequential") + (" direct" if direct else " buffered")
    what = f"{kind} {mode.replace('rand', '')}s of {'4 KiB' if is_random else '1 MiB'}, " \
           f"{jobs} job{'s' * (jobs > 1)}{f', {depth} under way at a time' * (depth > 1)} (fio)"
    arguments = [f"--bs={'4k' if is_random else '1M'}", f"--direct={int(direct)}"]
    if depth > 1:
        arguments += ["--ioengine=libaio", f"--iodepth={depth}", f"--loops={depth}"]
    reads_or_rewrites = is_random or mode == "read"
    prepare = fio_files(jobs, megabytes_of) if reads_or_rewrites else Workload.prepare
    return Workload(name + (f"-{jobs}" if jobs > 1 else ""), what, fio(mode, jobs, megabytes_of, *arguments),
                    "k IOPS" if is_random else "MB/s", higher_is_better=True, prepare=prepare, needs=("fio",),
                    megabytes=lambda scale: 2 * megabytes_of(scale) + 64)


def sequential_megabytes(scale):
    return scale.file_megabytes


def random_megabytes(scale):
    return scale.random_megabytes


def fio_workloads():
    for jobs in (1, 2, 4):
        yield fio_workload("read", "read", jobs)
        yield fio_workload("read-direct", "read", jobs, direct=True)
        yield fio_workload("write", "write", jobs)
        yield fio_workload("randread", "randread", jobs)
        yield fio_workload("randread-direct", "randread", jobs, direct=True)
        yield fio_workload("randwrite", "randwrite", jobs)
    yield fio_workload("randread-direct-queue", "randread", 1, direct=True, depth=16)


# ---- A compile ----

COMPILE_UNITS = 40
COMPILE_HEADERS = 30


def generate_project(place):
    def write(name, text):
        with open(os.path.join(place.directory, name), "w") as file:
            file.write(text)

    includes = "".join(f'#include "part{number}.h"\n' for number in range(COMPILE_HEADERS))
    for number in range(COMPILE_HEADERS):
        write(f"part{number}.h", f"#pragma once\nstatic inline int part{number}(int x) {{ return x + {number}; }}\n")
    for number in range(COMPILE_UNITS):
        calls = " + ".join(f"part{part}(x)" for part in range(COMPILE_HEADERS))
        write(f"unit{number}.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + includes
              + f"int unit{number}(int x);\nint unit{number}(int x) {{ return {calls}; }}\n")
    write("main.c", "int main(void) { return 0; }\n")
    write("Makefile", "objects := $(patsubst %.c,%.o,$(wildcard *.c))\n"
          "program: $(objects)\n\tgcc -o $@ $(objects)\n%.o: %.c\n\tgcc -c -o $@ $<\n")


def compile_project(place):
    place.run("make", "-s", f"-j{len(os.sched_getaffinity(0))}", "-C", place.directory)


def known_workloads():
    return [
        *round_trip_workloads(),
        *TREE_WORKLOADS,
        *storm_workloads(),
        Workload("postmark", "Postmark, thesis Figure 6.1", postmark, needs=("postmark",)),
        *fio_workloads(),
        Workload("compile", "make of a generated C project", compile_project, prepare=generate_project,
                 needs=("make", "gcc")),
    ]
