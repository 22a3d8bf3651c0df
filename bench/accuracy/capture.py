"""Takes the runs of a plan by real mounts and writes them down as a corpus."""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time

import noise
import plan
import profiles
import workloads
from lowers import Ext4, Tmpfs
from subjects import Mount, Subject, Trouble, remove_tree

RIVALS_ENTRIES = 5000


class Capture:
    def __init__(self, build, scratch, disk, lowers, resolution):
        self.daemon = os.path.join(build, "bench/slow_osproffs")
        self.scratch = scratch  # in memory
        self.disk = disk  # a directory of ours on a disk
        self.lowers = lowers
        self.resolution = resolution

    def take(self, run):
        """Makes the run and returns its profile as text, without names of this machine."""
        scenario = run.scenario
        difference = run.difference
        parameters = {**scenario.parameters, **(difference.parameters if difference else {})}
        lower = self.lowers[scenario.lower]
        directory = os.path.join(lower.directory, "run")
        profile = os.path.join(self.scratch, "profile")
        os.mkdir(directory)
        try:
            workloads.prepare(scenario.workload, directory, **parameters)
            if difference and difference.is_cold:
                lower.chill()
            with contextlib.ExitStack() as stack:
                if difference and difference.has_rival:
                    stack.enter_context(_rival(f"{directory}/0"))
                stack.enter_context(noise.Noise(run.noise, self.disk))
                mount = stack.enter_context(Mount(self._subject(run, profile), directory, self.scratch))
                workloads.run(scenario.workload, mount.mnt, **parameters)
                mount.daemon.terminate()  # also where somebody's mount namespace keeps a copy of the mount
                mount.daemon.wait()
        finally:
            remove_tree(directory)
        with open(profile, encoding="utf-8") as text:
            found = profiles.anonymous(text.read(), scenario.lower)
        os.unlink(profile)  # it must not be taken for the next one's
        return found

    def _subject(self, run, profile):
        slow = ",".join(f"{op}:{delay_ns}:{share}" for op, (_, delay_ns, share, _) in run.delays.items())
        options = f"profile={profile},live={{run}},cache={run.scenario.cache},resolution={self.resolution}"
        command = ("env", f"SLOW_OSPROFFS={slow}", self.daemon, "-f", "-o", options, "{lower}", "{mnt}")
        return Subject(run.name, "", command)


@contextlib.contextmanager
def _rival(directory):
    """A process that lists the lower directory, below the mount: while it does, nobody can change the directory."""
    for number in range(RIVALS_ENTRIES):
        os.close(os.open(f"{directory}/rival-{number:05}", os.O_CREAT | os.O_RDWR))
    rival = os.fork()
    if rival == 0:
        try:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            parent = os.getppid()
            while os.getppid() == parent:
                os.listdir(directory)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(rival, signal.SIGKILL)
        os.waitpid(rival, 0)


# ---- A corpus ----

def _measure_ordinary(capture):
    """{scenario name: (medians_ns, calls)} from a quiet run of each, which is not part of the corpus."""
    figures = {}
    for scenario in plan.SCENARIOS.values():
        text = capture.take(plan.Run(f"first-{scenario.name}", "", scenario, "quiet"))
        often = {op: buckets for op, buckets in profiles.read(text).items() if sum(buckets) >= plan.CALLS_MIN}
        ns_per_cycle = 1e9 / profiles.frequency_hz(text)
        medians_ns = {op: profiles.median_cycles(buckets) * ns_per_cycle for op, buckets in often.items()}
        figures[scenario.name] = (medians_ns, {op: sum(buckets) for op, buckets in often.items()})
    return figures


def _write_table(path, heading, rows):
    with open(path, "w", encoding="utf-8") as table:
        for row in (heading, *rows):
            table.write("\t".join(row) + "\n")


def _write_tables(directory, taken, seed):
    _write_table(f"{directory}/runs.tsv", ("run", "half", "scenario", "noise", "difference"),
                 [(run.name, run.half, run.scenario.name, run.noise, _in_words(run)) for run in taken])
    found = plan.pairs(taken, seed)
    _write_table(f"{directory}/pairs.tsv", ("half", "label", "op", "a", "b", "kind", "why"),
                 [(pair.half, pair.label, pair.op, pair.a, pair.b, pair.kind, pair.why) for pair in found])
    return found


def _in_words(run):
    if run.delays:
        return "delays: " + "; ".join(f"{op} {words}" for op, (_, _, _, words) in sorted(run.delays.items()))
    return run.difference.why if run.difference else "-"


def _take_all(capture, options):
    os.mkdir(f"{options.directory}/runs")
    figures = _measure_ordinary(capture)
    planned = plan.runs(figures, options.ordinary, options.delayed, options.other, noise.KINDS, options.seed)
    started = time.monotonic()
    for number, run in enumerate(planned, 1):
        text = capture.take(run)
        run.ops = profiles.read(text)
        with open(f"{options.directory}/runs/{run.name}.osprof", "w", encoding="utf-8") as profile:
            profile.write(text)
        print(f"\r{number} of {len(planned)} runs, {time.monotonic() - started:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    return sorted(planned, key=lambda run: run.name)


def corpus(options, build):
    """The command `capture`. Nothing of it is left but the corpus, also if it fails."""
    with at_work(options, build) as capture:
        taken = _take_all(capture, options)
        found = _write_tables(options.directory, taken, options.seed)
    print(f"{len(taken)} runs, {len(found)} pairs in {options.directory}")
    return 0


@contextlib.contextmanager
def at_work(options, build, resolution=1):
    """A Capture with lower file systems of its own, for options.directory, which must be empty. They are gone after it."""
    _refuse_what_cannot_work(options, build)
    with contextlib.ExitStack() as stack:
        scratch = tempfile.mkdtemp(prefix="osproffs-accuracy.", dir="/dev/shm")
        stack.callback(remove_tree, scratch)
        disk = tempfile.mkdtemp(prefix="osproffs-accuracy.", dir=options.disk)
        stack.callback(remove_tree, disk)
        lowers = {
            "tmpfs": stack.enter_context(Tmpfs(f"{scratch}/tmpfs")),
            "ext4": stack.enter_context(Ext4(f"{scratch}/ext4", f"{scratch}/image")),
            "disk": stack.enter_context(Ext4(f"{disk}/ext4", f"{disk}/image")),
        }
        yield Capture(build, scratch, disk, lowers, resolution)


def _refuse_what_cannot_work(options, build):
    if os.geteuid() != 0:
        raise Trouble("capture mounts file systems of its own, and so needs root")
    missing = [tool for tool in ("mkfs.ext4", "losetup") if not shutil.which(tool)]
    if missing:
        raise Trouble(f"capture needs {', '.join(missing)}")
    if not os.access(os.path.join(build, "bench/slow_osproffs"), os.X_OK):
        raise Trouble(f"there is no bench/slow_osproffs in {build}; build it, or name its build with --build")
    if not os.path.isdir(options.disk):
        raise Trouble(f"--disk {options.disk}: is not a directory")
    os.makedirs(options.directory, exist_ok=True)
    if os.listdir(options.directory):
        raise Trouble(f"{options.directory} is not empty; what is captured gets a directory of its own")
