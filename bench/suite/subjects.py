"""What is compared: ways to reach the same files, and how to mount and unmount each.

A subject runs in the foreground, so that the process started is the daemon. It gets SIGTERM if this program dies, and
every mount is gone before its directory is touched again.
"""

import os
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, replace

MOUNT_PATIENCE_S = 20
UNMOUNT_PATIENCE_S = 20
POLL_S = 0.0002
PARTIAL = "bench/partial_osproffs"  # of builds with -Dbench_timing=true


class Trouble(Exception):
    """Something could not be measured, and why: one line for people."""


@dataclass(frozen=True)
class Subject:
    name: str
    what: str
    command: tuple = ()  # of the daemon; {lower}, {mnt} and {run} stand for directories. Empty: no mount
    is_ours: bool = False  # has a control file, and a failure of it is ours
    over_lower: bool = False  # mounts over the lower directory itself


def osproffs(build, name, what, *arguments, option=None):
    options = "profile={run}/osprof.out,live={run}" + (f",{option}" if option else "")
    command = (os.path.join(build, "src/fuse/osproffs"), "-f", *arguments, "-o", options, "{lower}", "{mnt}")
    return Subject(name, what, command, is_ours=True)


def partial_subjects(build):
    """Ours with parts of the profiler, after thesis §6.2."""
    daemon = os.path.join(build, PARTIAL)
    if not os.access(daemon, os.X_OK):
        return
    for part, what in (("call", "an extra function call"), ("tsc", "the clock is read, nothing kept")):
        ours = osproffs(build, f"osproffs-{part}", what)
        yield replace(ours, command=("env", f"PARTIAL_OSPROFFS={part}", daemon, *ours.command[1:]))


def _has(build, feature):
    version = subprocess.run([os.path.join(build, "src/fuse/osproffs"), "-V"], capture_output=True, check=True)
    return f"+{feature}" in version.stdout.decode()


def _kernel_has_rings():
    try:
        with open("/sys/module/fuse/parameters/enable_uring", encoding="ascii") as switch:
            return switch.read().strip() == "Y"
    except OSError:
        return False


def known_subjects(build):
    """Every subject that this machine can run, in the order they are shown in."""
    subjects = [
        Subject("native", "the lower directory itself"),
        osproffs(build, "osproffs", "as mounted by default: profiling, many workers"),
        osproffs(build, "osproffs-s", "one worker (-s)", "-s"),
        osproffs(build, "osproffs-plain", "workers=plain: never bound to CPUs", option="workers=plain"),
        osproffs(build, "osproffs-off", "timing=off: a plain pass-through", option="timing=off"),
        *partial_subjects(build),
        osproffs(build, "osproffs-always", "cache=always: names, attributes and data for a day", option="cache=always"),
    ]
    if _has(build, "passthrough"):
        what = "data=passthrough: the kernel reads and writes"
        subjects.append(osproffs(build, "osproffs-passthrough", what, option="data=passthrough"))
    if _has(build, "io_uring") and _kernel_has_rings():
        subjects.append(osproffs(build, "osproffs-io_uring", "requests come over io_uring", option="io_uring"))
    if shutil.which("bindfs"):
        subjects.append(Subject("bindfs", "Debian's bindfs", ("bindfs", "-f", "{lower}", "{mnt}")))
    if shutil.which("loggedfs"):
        command = ("loggedfs", "-f", "-p", "-e", "-l", "{run}/log", "{lower}")
        subjects.append(Subject("loggedfs", "Debian's loggedfs, logging to a file", command, over_lower=True))
    return subjects


def peer(text):
    """A subject from NAME=COMMAND, as given on the command line."""
    name, _, command = text.partition("=")
    if not name or "{lower}" not in command:
        raise Trouble(f"--peer {text}: must be NAME=COMMAND with {{lower}} and {{mnt}} where the directories belong")
    return Subject(name, command, tuple(shlex.split(command)), over_lower="{mnt}" not in command)


class Mount:
    """A subject at work over a lower directory. Use it as a context manager."""

    def __init__(self, subject, lower, scratch, cpu=None):
        self.subject = subject
        self.lower = lower
        self.run = os.path.join(scratch, "run")  # the daemon's own files
        self.mnt = lower if subject.over_lower or not subject.command else os.path.join(scratch, "mnt")
        self.cpu = cpu
        self.daemon = None
        self.mount_s = None
        self.unmount_s = None

    @property
    def pid(self):
        return self.daemon.pid if self.daemon else None

    def __enter__(self):
        os.makedirs(self.mnt, exist_ok=True)
        os.makedirs(self.run, mode=0o700)
        if self.subject.command:
            try:
                self._start()
            except BaseException:
                self._end()
                raise
        return self

    def __exit__(self, *_):
        self._end()

    def _start(self):
        places = {"{lower}": self.lower, "{mnt}": self.mnt, "{run}": self.run}
        command = [_replace(word, places) for word in self.subject.command]
        pin = ["taskset", "-c", str(self.cpu)] if self.cpu is not None else []
        device_before = os.stat(self.mnt).st_dev
        started = time.perf_counter()
        with open(os.path.join(self.run, "stderr"), "wb") as errors:
            self.daemon = subprocess.Popen(
                pin + ["setpriv", "--pdeathsig", "TERM", "--"] + command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=dict(os.environ, XDG_RUNTIME_DIR=self.run),
                start_new_session=True,  # Ctrl-C is for us, who unmount
            )
        while _device(self.mnt) in (None, device_before):
            if self.daemon.poll() is not None:
                raise Trouble(f"{self.subject.name} did not mount: {self._last_words()}")
            if time.perf_counter() - started > MOUNT_PATIENCE_S:
                raise Trouble(f"{self.subject.name} has not mounted for {MOUNT_PATIENCE_S} s")
            time.sleep(POLL_S)
        self.mount_s = time.perf_counter() - started

    def _end(self):
        if self.daemon:
            started = time.perf_counter()
            unmount(self.mnt)
            self._wait_for_daemon()
            self.unmount_s = time.perf_counter() - started
        remove_tree(self.run)

    def _wait_for_daemon(self):
        for send in (None, signal.SIGTERM, signal.SIGKILL):
            if send is not None:
                self.daemon.send_signal(send)
            try:
                self.daemon.wait(UNMOUNT_PATIENCE_S)
                return
            except subprocess.TimeoutExpired:
                continue
        raise Trouble(f"{self.subject.name} (pid {self.daemon.pid}) does not end")

    def _last_words(self):
        with open(os.path.join(self.run, "stderr"), errors="replace") as errors:
            lines = errors.read().split("\n")
        return next((line for line in reversed(lines) if line), f"exit status {self.daemon.poll()}")

    # ---- What the daemon has used so far ----

    def cpu_s(self):
        """CPU time of the whole process, to the nanosecond: its CPU-time clock."""
        if not self.pid:
            return 0.0
        return time.clock_gettime((~self.pid << 3) | 2)  # as clock_getcpuclockid(3) makes it

    def user_and_system_s(self):
        if not self.pid:
            return 0.0, 0.0
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        return int(fields[11]) / ticks, int(fields[12]) / ticks

    def resident_bytes(self):
        if not self.pid:
            return None
        with open(f"/proc/{self.pid}/status") as status:
            kilobytes = next((line.split()[1] for line in status if line.startswith("VmRSS:")), None)
        if kilobytes is None:
            raise Trouble(f"{self.subject.name} has died: {self._last_words()}")
        return int(kilobytes) * 1024

    def requests(self):
        """How many requests osproffs has profiled; None if this subject does not tell. Not one of them itself."""
        if not self.subject.is_ours or not self.pid:
            return None
        with open(os.path.join(self.mnt, ".osprof")) as profile:
            return sum(int(line.split()[1]) for line in profile if line.startswith("OP_")) or None


def unmount(path):
    """Unmounts what is mounted at path, by force if it stays busy."""
    polite, forced = ["umount", "--"], ["umount", "-l", "--"]
    if os.geteuid() != 0:
        polite, forced = ["fusermount3", "-u", "--"], ["fusermount3", "-u", "-z", "--"]
    for command in [polite] * 20 + [forced]:
        if path not in _mounts():
            return
        result = subprocess.run(command + [path], stderr=subprocess.DEVNULL)
        if result.returncode == 0:
            return
        time.sleep(0.1)
    raise Trouble(f"cannot unmount {path}")


def mounts_below(path):
    """Where something is mounted at or below path, the latest mount last."""
    return [mount for mount in _mounts() if mount == path or mount.startswith(path + "/")]


def remove_tree(path):
    """Removes a directory of ours, but never what is mounted in it."""
    mounted = mounts_below(path)
    if mounted:
        raise Trouble(f"not removed, because something is still mounted there: {', '.join(mounted)}")
    shutil.rmtree(path)


def _mounts():
    with open("/proc/self/mountinfo") as mounts:
        return [line.split()[4] for line in mounts]


def _device(path):
    try:
        return os.stat(path).st_dev
    except OSError:  # while the daemon fails, or is about to
        return None


def _replace(word, places):
    for placeholder, path in places.items():
        word = word.replace(placeholder, path)
    return word
