"""What must be true of a profile in any format. Each check returns what was expected instead, or None."""

import dataclasses

from .model import GROUPINGS

ERRORS = frozenset(
    """EPERM ENOENT EINTR EIO ENXIO E2BIG EBADF EAGAIN ENOMEM EACCES EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL
    ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY
    ELOOP ENODATA EBADMSG EOVERFLOW EOPNOTSUPP ENOTCONN ETIMEDOUT ESTALE EUCLEAN EDQUOT ENOKEY other""".split()
)
VALUES = ("SIZE", "RESULT", "OFFSET", "ERROR", "PAST_EOF", "BLOCKED", "CPU")
LAYERS = ("user", "fuse", "queue", "daemon", "fs", "block")  # the outermost first
LAYERS_MAX = 16
_HAS_IDS = frozenset(("process", "uid"))
_HAS_OBJECTS = frozenset(("file", "directory", "filesystem"))
_OWN_ROWS = {"ERROR": 134, "PAST_EOF": 2}


def has_ids(grouping):
    """True if groups of that kind have numbers; else they have names only."""
    return grouping in _HAS_IDS


def has_objects(grouping):
    """True if groups of that kind are what calls work on; else they are callers."""
    return grouping in _HAS_OBJECTS


def is_row_of(value, number):
    """True if a joint profile of the value has a row that begins with the number."""
    if value in _OWN_ROWS:
        return number < _OWN_ROWS[value]
    return number & (number - 1) == 0


def wrong_with_buckets(operation):
    if operation.finished > operation.calls:
        return f"buckets that sum up to at most {operation.calls} calls of OP_{operation.name}"
    return None


def wrong_with_failures(operation):
    if sum(operation.failed.values()) > operation.finished:
        return f"not more failed calls of OP_{operation.name} than calls that have ended"
    return None


def wrong_with_longest(operation):
    longest = operation.longest_cycles
    if longest is not None and operation.scale.bucket_of(longest) != max(operation.counts, default=-1):
        return f"the longest call of OP_{operation.name} in its last bucket that has calls"
    return None


def wrong_with_looks(profile, operation):
    if (operation.busy_looks or 0) > (profile.busy.busy if profile.busy else 0):
        return f"not more busy looks of OP_{operation.name} than of all operations"
    return None


def wrong_with_left(operation):
    if operation.left > operation.calls - operation.finished:
        return f"not more calls of OP_{operation.name} that were left than have not ended"
    return None


# Beside the buckets, which text has checked row by row
OF_OUTCOMES = (wrong_with_failures, wrong_with_longest, wrong_with_left)
OF_OPERATIONS = (wrong_with_buckets,) + OF_OUTCOMES


class GroupedCalls:
    """The calls of all groups so far: those of a kind have no more together than the whole."""

    def __init__(self, profile):
        self._whole = profile.operations
        self._calls = {}

    def wrong_with(self, grouping, operation):
        """The same as the functions above, of an operation of one more group."""
        key = grouping, operation.name
        if operation.calls == 0 or operation.calls != operation.finished:
            return f"all calls of OP_{operation.name} of a group in its buckets"
        if operation.name not in self._whole:
            return f"OP_{operation.name} before its groups"
        self._calls[key] = self._calls.get(key, 0) + operation.calls
        whole = self._whole[operation.name].calls
        if self._calls[key] > whole:
            return f"groups that sum up to at most {whole} calls of OP_{operation.name}"
        return None


def _group_order(group):
    total = sum(operation.total_cycles for operation in group.operations.values())
    who = ("id", "kernel", "other").index(group.who)
    name = (group.name or "").encode("utf-8", "surrogateescape")
    return GROUPINGS.index(group.grouping), group.who == "other", -total, who, group.id or 0, name


def sort(profile):
    """Brings operations and groups into the order of osprof: the largest total first."""
    for owner in [profile] + profile.groups:
        operations = sorted(owner.operations.values(), key=lambda operation: (-operation.total_cycles, operation.name))
        owner.operations = {operation.name: operation for operation in operations}
    profile.groups.sort(key=_group_order)


def wrong_with_call(call):
    """It is in flight, or has ended; in flight are those with an age."""
    state = "ended" if call.age_cycles is None else "in flight"
    for member in dataclasses.fields(call):
        has_it = getattr(call, member.name) is not None
        if "is_of" in member.metadata and has_it != (member.metadata["is_of"] == state):
            return f"{'no ' if has_it else ''}{member.name} of a call that {'has ended' if state == 'ended' else 'is in flight'}"
    return None


def wrong_with_layers(layers):
    """Several profiles are of one recording if each is of a layer of its own, all of one host."""
    names = [profile.layer for profile in layers]
    hosts = {profile.labels["host"] for profile in layers if "host" in profile.labels}
    if len(layers) < 2:
        return None
    if len(layers) > LAYERS_MAX:
        return f"at most {LAYERS_MAX} layers"
    if not all(names):
        return 'a line "# layer: NAME" in each profile of a recording'
    if len(set(names)) != len(names):
        return "each layer once"
    return "layers of one host" if len(hosts) > 1 else None


def sorted_layers(layers):
    """The outermost first; those that are not known last, as they came."""
    return sorted(layers, key=lambda profile: LAYERS.index(profile.layer) if profile.layer in LAYERS else len(LAYERS))
