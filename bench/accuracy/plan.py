"""Which runs a capture takes, and which pairs of them it labels how: all that is known by construction.

Runs belong to one half each, the one that thresholds are chosen by or the one that they are judged by. A pair is of two
runs of one half and of one op. Nothing measured has a say in a label; only ops with too few calls are left out.
"""

import random
from dataclasses import dataclass, field

HALVES = ("choose", "judge")
CALLS_MIN = 100  # of an op, in both profiles

# Kinds of pairs that are listed apart, and not counted: their labels hold, but what they are about may be too small to
# be seen. "small": small delays; "rival": who competes for a lock may get no CPU; "shared": the same, on a shared disk.
KINDS_APART = ("small", "rival", "shared")


@dataclass(frozen=True)
class Scenario:
    name: str
    workload: str
    lower: str  # "tmpfs", "ext4" (in memory) or "disk" (ext4 on a disk)
    parameters: dict
    cache: str = "none"
    shared_ops: tuple = ()  # wait for a disk that others use, too: their latency is not by construction the same


SCENARIOS = {scenario.name: scenario for scenario in (
    Scenario("names-tmpfs", "names", "tmpfs", {"processes": 1, "iterations": 500, "entries": 600}),
    Scenario("names-ext4", "names", "ext4", {"processes": 1, "iterations": 500, "entries": 100}),
    Scenario("names-disk", "names", "disk", {"processes": 1, "iterations": 200, "entries": 100}, shared_ops=("FSYNC",)),
    Scenario("names-crowd", "names", "tmpfs", {"processes": 3, "iterations": 200, "entries": 100}),
    Scenario("data-tmpfs", "data", "tmpfs", {"processes": 1, "iterations": 1000, "io_bytes": 4096}),
    Scenario("data-ext4", "data", "ext4", {"processes": 1, "iterations": 800, "io_bytes": 4096}),
    Scenario("data-disk", "data", "disk", {"processes": 1, "iterations": 400, "io_bytes": 4096},
             shared_ops=("FSYNC",)),
    Scenario("tree-disk", "tree", "disk", {"processes": 1}, cache="auto"),
)}

# Delays: how many times an op's median latency, and for what share of its calls. Clear ones are those that comparisons
# are judged by. Small ones come near to what a busy machine does to ops that nothing was done to; they are listed
# apart.
CLEAR_DELAYS = (
    (4, 1), (8, 1), (50, 1),
    (8, 0.5), (60, 0.5),
    (30, 0.2), (300, 0.2),
    (100, 0.1), (1000, 0.1),
    (1000, 0.03),
)
SMALL_DELAYS = ((0.5, 1), (1, 1), (2, 1), (3, 0.5), (8, 0.2), (30, 0.1), (100, 0.03))
SMALL_PERCENT = 35  # of all delays
DELAY_NS_MIN = 200  # less is lost in the reading of clocks
DELAYS_S_MAX = 1.0  # of an op in a run: keeps runs short

# Ops that change the lower directory need it for themselves, and so wait for threads that read it
DIRECTORY_CHANGERS = ("CREATE", "UNLINK", "MKDIR", "RMDIR", "SYMLINK", "RENAME")


@dataclass(frozen=True)
class Difference:
    """What is other than in the scenario's ordinary runs, and which ops it must touch."""
    kind: str
    why: str
    ops: tuple
    parameters: dict = field(default_factory=dict)
    is_cold: bool = False
    has_rival: bool = False  # another process lists the lower directory, over and over


DIFFERENCES = {
    "names-tmpfs": (
        Difference("entries", "directories of 3 names, not 600", ("READDIR",), {"entries": 3}),
        Difference("rival", "another process lists the directory below the mount", DIRECTORY_CHANGERS, has_rival=True),
    ),
    "data-tmpfs": (
        Difference("size", "256 KiB, not 4 KiB", ("READ", "WRITE"), {"io_bytes": 262144, "iterations": 128}),
    ),
    "data-disk": (
        Difference("cold", "the file is in no cache", ("READ",), is_cold=True),
    ),
    "tree-disk": (
        Difference("cold", "the files are in no cache", ("READ",), is_cold=True),
    ),
}

# Ordinary runs of two scenarios that differ in the lower file system alone
MEDIA = (
    ("names-tmpfs", "names-ext4", "ext4 has a journal to sync, tmpfs has nothing", ("FSYNC",)),
    ("data-tmpfs", "data-ext4", "ext4 has a journal to sync, tmpfs has nothing", ("FSYNC",)),
)
MEDIA_PAIRS = 4  # of each, in a half


@dataclass
class Run:
    name: str
    half: str
    scenario: Scenario
    noise: str
    difference: Difference = None
    delays: dict = field(default_factory=dict)  # {op: (kind, ns, share, "in words")}
    ops: dict = None  # {op: buckets}, once it has been captured


def delays_for(medians_ns, calls, chance):
    """Delays for half of the ops, by chance, as a Run has them."""
    delays = {}
    for op in chance.sample(sorted(medians_ns), (len(medians_ns) + 1) // 2):
        kind, choice = ("small", SMALL_DELAYS) if chance.randrange(100) < SMALL_PERCENT else ("delay", CLEAR_DELAYS)
        times, share = chance.choice(choice)
        delay_ns = round(times * medians_ns[op])
        if delay_ns >= DELAY_NS_MIN and delay_ns * share * calls[op] <= DELAYS_S_MAX * 1e9:
            words = f"{delay_ns} ns, {times} times the median, for {100 * share:g} % of the calls"
            delays[op] = (kind, delay_ns, share, words)
    return delays


def runs(figures, ordinary, delayed, other, noises, seed):
    """All runs in the order to take them, which is mixed.

    figures: {scenario name: (medians_ns, calls)} of runs made before; ordinary, delayed and other: how many runs of
    each scenario and half, and of each Difference."""
    chance = random.Random(seed)
    planned = []
    for half in HALVES:
        for scenario in SCENARIOS.values():
            differences = [(None, False)] * ordinary + [(None, True)] * delayed
            differences += [(difference, False) for difference in DIFFERENCES.get(scenario.name, ())] * other
            for number, (difference, is_delayed) in enumerate(differences):
                run = Run(f"{half}-{scenario.name}-{number:02}", half, scenario, chance.choice(noises), difference)
                if is_delayed:
                    run.delays = delays_for(*figures[scenario.name], chance)
                planned.append(run)
    chance.shuffle(planned)
    return planned


# ---- Pairs ----

@dataclass(frozen=True)
class Pair:
    half: str
    label: str  # "same" or "different"
    op: str
    a: str  # run
    b: str
    kind: str
    why: str


def pairs(taken, seed):
    """All labelled pairs of these runs."""
    chance = random.Random(seed)
    found = []
    for half in HALVES:
        ordinary = {name: _ordinary(taken, half, name) for name in SCENARIOS}
        for name, base in ordinary.items():
            for a, b in zip(base[::2], base[1::2]):  # no run is in two pairs of the same: noise is not counted twice
                found += _pairs_alike(a, b)
            found += _pairs_that_differ(taken, half, name, base, chance)
        for a_name, b_name, why, ops in MEDIA:
            for a, b in list(zip(ordinary[a_name], ordinary[b_name]))[:MEDIA_PAIRS]:
                found += _label("different", ops, a, b, "medium", why)
    return found


def _ordinary(taken, half, name):
    return sorted((run for run in taken if run.half == half and run.scenario.name == name
                   and not run.difference and not run.delays), key=lambda run: run.name)


def _pairs_alike(a, b):
    why = f"noise: {a.noise}, {b.noise}"
    ops = set(a.ops) & set(b.ops)
    shared = ops & set(a.scenario.shared_ops)
    return (_label("same", sorted(ops - shared), a, b, "same", why)
            + _label("same", sorted(shared), a, b, "shared", f"disk that others use; {why}"))


def _pairs_that_differ(taken, half, name, base, chance):
    found = []
    for run in sorted(taken, key=lambda run: run.name):
        if run.half != half or run.scenario.name != name or not base:
            continue
        partner = chance.choice(base)
        for op, (kind, _, _, words) in run.delays.items():
            found += _label("different", (op,), partner, run, kind, words)
        if run.difference:
            found += _label("different", run.difference.ops, partner, run, run.difference.kind, run.difference.why)
    return found


def _label(label, ops, a, b, kind, why):
    """The pairs of those ops that both runs have called often enough."""
    return [Pair(a.half, label, op, a.name, b.name, kind, why) for op in ops
            if min(sum(run.ops.get(op, ())) for run in (a, b)) >= CALLS_MIN]
