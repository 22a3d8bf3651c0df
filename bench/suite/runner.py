"""Runs workloads: every subject in every round, the order of subjects reversed each round."""

import mmap
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Optional

from subjects import Mount, Trouble, remove_tree
from workloads import Place, Scale

NEAR_TRIES = 10
NEAR_PATIENCE_S = 120
NEAR_STEP_S = 0.2
LOG_STEP_S = 30


@dataclass
class Record:
    """One run of one workload on one subject. Times are seconds; of the daemon: None for native."""

    scale: Scale = field(repr=False)
    elapsed_s: float = 0
    client_user_s: float = 0
    client_system_s: float = 0
    daemon_cpu_s: Optional[float] = None
    daemon_user_s: Optional[float] = None
    daemon_system_s: Optional[float] = None
    requests: Optional[int] = None
    resident_before_bytes: Optional[int] = None
    resident_after_bytes: Optional[int] = None
    mount_s: Optional[float] = None
    unmount_s: Optional[float] = None
    cpu_distance_ns: Optional[float] = None  # the larger of before and after; None with one CPU
    value: Optional[float] = None

    def cpu_us_per_request(self):
        if not self.requests or self.daemon_cpu_s is None:
            return None
        return self.daemon_cpu_s * 1e6 / self.requests


@dataclass
class Outcome:
    """All runs of one workload on one subject."""

    subject: object
    records: list = field(default_factory=list)
    failure: Optional[str] = None


class Progress:
    """A line that changes on a terminal; elsewhere, such as in a log, a new one now and then."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.started = time.monotonic()
        self.logged = self.started
        self.on_terminal = sys.stderr.isatty()

    def show(self, text):
        now = time.monotonic()
        line = f"[{self.done}/{self.total}] {text}{self._left(now)}"
        if self.on_terminal:
            sys.stderr.write("\r\033[K" + line[:shutil.get_terminal_size().columns - 1])
            sys.stderr.flush()
        elif now - self.logged >= LOG_STEP_S:
            self.logged = now
            print(line, file=sys.stderr, flush=True)
        self.done += 1

    def _left(self, now):
        if self.done == 0:
            return ""
        seconds = (now - self.started) / self.done * (self.total - self.done)
        return f", {seconds / 60:.0f} min left" if seconds >= 90 else f", {seconds:.0f} s left"

    def clear(self):
        if self.on_terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class Runner:
    def __init__(self, scratch, tools, scale, trees, rounds, near_ns, progress):
        self.scratch = scratch
        self.tools = tools
        self.scale = scale
        self.trees = trees
        self.rounds = rounds
        self.near_ns = near_ns
        self.progress = progress
        self.cpus = sorted(os.sched_getaffinity(0))
        self.lower_is_memory = _is_tmpfs(scratch)
        self.interrupted = False

    def run(self, workload, subjects):
        """The outcomes of a workload, one per subject. A subject that fails is left out of later rounds; of a round
        that Ctrl-C interrupts nothing is kept."""
        outcomes = [Outcome(subject) for subject in subjects if subject.command or workload.has_native]
        for number in range(self.rounds):
            try:
                self._run_round(workload, outcomes, number)
            except KeyboardInterrupt:
                self.interrupted = True
                for outcome in outcomes:
                    del outcome.records[number:]
                break
        self.progress.clear()
        return outcomes

    def _run_round(self, workload, outcomes, number):
        for outcome in outcomes if number % 2 == 0 else reversed(outcomes):
            self.progress.show(f"{workload.name}: round {number + 1} of {self.rounds}, {outcome.subject.name}")
            if outcome.failure:
                continue
            try:
                outcome.records.append(self._run_near(workload, outcome.subject))
            except (Trouble, OSError, subprocess.SubprocessError) as trouble:
                outcome.failure = " ".join(str(trouble).split())

    def _run_near(self, workload, subject):
        """Runs once, or a few times until no CPU was far from the other. The record says how far they were."""
        for _ in range(NEAR_TRIES):
            distance_ns = self._wait_until_near()
            record = self._run_once(workload, subject)
            distance_ns = max(distance_ns, self._cpu_distance_ns())
            record.cpu_distance_ns = distance_ns or None
            if not self._is_far(distance_ns):
                break
        return record

    def _wait_until_near(self):
        started = time.monotonic()
        distance_ns = self._cpu_distance_ns()
        while self._is_far(distance_ns) and time.monotonic() - started < NEAR_PATIENCE_S:
            time.sleep(NEAR_STEP_S)
            distance_ns = self._cpu_distance_ns()
        if self._is_far(distance_ns):
            self.progress.clear()
            print(f"bench: the CPUs have been {distance_ns:.0f} ns apart for {NEAR_PATIENCE_S} s, which is more than "
                  f"--near {self.near_ns:g}: from here on runs are measured as it comes", file=sys.stderr)
            self.near_ns = None
        return distance_ns

    def _cpu_distance_ns(self):
        """0 with one CPU."""
        return float(subprocess.run([self.tools.cpu_distance], check=True, capture_output=True).stdout)

    def _is_far(self, distance_ns):
        return self.near_ns is not None and distance_ns > self.near_ns

    def _run_once(self, workload, subject):
        daemon_cpu, client_cpu = self._pinning(workload.pinned)
        place = Place(None, self.scratch, self.tools, self.scale, client_cpu)
        lower = self._lower(workload, place)
        record = Record(self.scale)
        try:
            with Mount(subject, lower, self.scratch, daemon_cpu) as mount:
                place.directory = mount.mnt
                workload.before(place)
                _touch_memory(workload.megabytes(self.scale))
                self._measure(workload, place, mount, record)
            record.mount_s, record.unmount_s = mount.mount_s, mount.unmount_s
        finally:
            if not workload.tree:
                remove_tree(lower)
        if workload.value:
            record.value = workload.value(record)
        return record

    def _pinning(self, how):
        """CPUs of daemon and client, or None for any."""
        if how == "free":
            return None, None
        if how == "apart" and len(self.cpus) < 2:
            raise Trouble("needs two CPUs")
        return self.cpus[0], self.cpus[0 if how == "together" else 1]

    def _lower(self, workload, place):
        if workload.tree:
            place.directory, _ = self.trees.get(workload.tree)
        else:
            place.directory = os.path.join(self.scratch, "lower")
            os.mkdir(place.directory)
            workload.prepare(place)
        if not self.lower_is_memory:
            warm_up = ["find", place.directory, "-type", "f", "-exec", "cat", "--", "{}", "+"]
            subprocess.run(warm_up, check=True, stdout=subprocess.DEVNULL)
        return place.directory

    def _measure(self, workload, place, mount, record):
        requests = mount.requests()
        record.resident_before_bytes = mount.resident_bytes()
        daemon_times, daemon_cpu = mount.user_and_system_s(), mount.cpu_s()
        client = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        value = workload.run(place)
        record.elapsed_s = time.perf_counter() - started
        record.value = record.elapsed_s if value is None else value
        self._note_client(client, record)
        if mount.pid:
            record.daemon_cpu_s = mount.cpu_s() - daemon_cpu
            user_s, system_s = mount.user_and_system_s()
            record.daemon_user_s, record.daemon_system_s = user_s - daemon_times[0], system_s - daemon_times[1]
            record.resident_after_bytes = mount.resident_bytes()
            requests_after = mount.requests()
            record.requests = requests_after - (requests or 0) if requests_after else place.requests

    @staticmethod
    def _note_client(before, record):
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        record.client_user_s = now.ru_utime - before.ru_utime
        record.client_system_s = now.ru_stime - before.ru_stime


def _touch_memory(megabytes):
    """Takes memory and gives it back. A virtual machine gives free memory to its host, and the first that uses it
    waits for the host: up to four times as long as what is measured, and for the first subject only."""
    populate = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    mmap.mmap(-1, megabytes << 20, flags=populate).close()


def _is_tmpfs(path):
    kind = subprocess.run(["stat", "-f", "-c", "%T", path], check=True, capture_output=True, text=True).stdout.strip()
    return kind == "tmpfs"
