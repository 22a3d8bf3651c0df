"""Profiles read from text and from JSON have the figures that osprof show --json prints of them."""

import json
import unittest

import osprof
from helpers import DATA, TESTS, ScratchTest, as_file, corpus, sound_profiles

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}


class Figures(ScratchTest):
    """Holds objects against documents."""

    def assert_operation(self, document, operation):
        self.assertEqual(document["calls"], operation.calls)
        self.assertEqual(document.get("left", 0), operation.left)
        self.assertEqual(document.get("busy_looks"), operation.busy_looks)
        self.assertEqual(document["total_cycles"], operation.total_cycles)
        self.assertEqual(document.get("total_seconds"), operation.total_seconds)
        self.assertEqual(document.get("longest_cycles"), operation.longest_cycles)
        self.assertEqual(document.get("longest_seconds"), operation.longest_seconds)
        self.assertEqual(document.get("asked_bytes", 0), operation.asked_bytes)
        self.assertEqual(document.get("moved_bytes", 0), operation.moved_bytes)
        self.assertEqual(document.get("failed", {}), operation.failed)
        self.assertEqual(document["buckets"], buckets_of(operation))
        finished = sum(bucket["count"] for bucket in document["buckets"])
        self.assertEqual(finished, operation.finished)
        if finished:
            self.assertEqual(document["total_cycles"] / finished, operation.mean_cycles)
        self.assertEqual("percentiles" in document, finished > 0)
        for name, share in PERCENTILES.items():
            latency = operation.percentile(share)
            if latency is None:
                self.assertEqual(0, finished)
                continue
            self.assertEqual(document["percentiles"][name + "_cycles"], latency.cycles, f"{name} of {operation.name}")
            self.assertEqual(document["percentiles"].get(name + "_seconds"), latency.seconds)
            self.assertLessEqual(latency.lower_cycles, latency.cycles)
            self.assertLessEqual(latency.cycles, latency.upper_cycles)
        samples = [(cell["interval"], cell["bucket"], cell["count"]) for cell in document.get("samples", ())]
        self.assertEqual(samples, list(operation.samples or ()))

    def assert_operations(self, document, owner):
        self.assertEqual([operation["op"] for operation in document["ops"]], list(owner.operations))
        for operation in document["ops"]:
            self.assert_operation(operation, owner.operations[operation["op"]])

    def assert_groups(self, document, profile):
        self.assertEqual(len(document.get("groups", ())), len(profile.groups))
        for one, group in zip(document.get("groups", ()), profile.groups):
            self.assertEqual((one["grouping"], one["who"], one.get("id")), (group.grouping, group.who, group.id))
            self.assertEqual(one.get("missed_cycles_max"), group.missed_cycles_max)
            self.assertEqual(one.get("cache_read_bytes"), group.cache_read_bytes)
            self.assertEqual(one.get("name"), readable(group.name))
            self.assert_operations(one, group)

    def assert_timeline(self, document, profile):
        ends = [border["end_cycles"] for border in document.get("borders", ())]
        self.assertEqual(ends, profile.borders_cycles)
        for operation in document["ops"]:
            if "interval_cycles" not in document:
                continue
            intervals = profile.intervals(operation["op"])
            self.assertEqual(ends, [interval.end_cycles for interval in intervals])
            self.assertEqual([0] + ends[:-1], [interval.begin_cycles for interval in intervals])
            whole = profile.operations[operation["op"]]
            self.assertEqual(whole.finished, sum(interval.finished for interval in intervals))
            for interval in intervals:
                self.assertEqual(interval.finished > 0, interval.percentile(0.5) is not None)

    def assert_profile(self, document, profile):
        labels = {readable(key): readable(value) for key, value in profile.labels.items()}
        self.assertEqual(document["labels"], labels)
        self.assertEqual(document.get("lists", []), profile.lists)
        self.assertEqual(document["clock"].get("kind"), profile.clock)
        self.assertEqual(document["clock"].get("frequency_hz"), profile.frequency_hz)
        self.assertEqual(document["resolution"], profile.resolution)
        self.assertEqual(document["incomplete"], profile.incomplete)
        self.assertEqual(document.get("busy"), vars(profile.busy) if profile.busy else None)
        start = profile.start and profile.start.strftime("%Y-%m-%dT%H:%M:%S.")
        self.assertEqual(document.get("start"), start and f"{start}{profile.start_ns % 10**9:09d}Z")
        for name in FACTS:
            self.assertEqual(document.get(name, 0), getattr(profile, name) or 0, name)
        unseen = [known(vars(program)) for program in profile.unseen_programs]
        self.assertEqual(document.get("unseen_programs", []), unseen)
        in_flight, slow_calls = as_data(document["in_flight"]), as_data(document.get("slow_calls", []))
        self.assertEqual(in_flight, [call_of(call, "age") for call in profile.in_flight])
        self.assertEqual(slow_calls, [call_of(call, "latency") for call in profile.slow_calls])
        callers = [known(dict(vars(caller), op=caller.operation, operation=None)) for caller in profile.slow_callers]
        self.assertEqual(document.get("slow_callers", []), callers)
        self.assertEqual(document.get("causes", []), [cause_of(cause) for cause in profile.causes])
        joints = [
            {"op": joint.operation, "value": joint.value, "cells": [dict(zip(CELL, cell)) for cell in joint.cells]}
            for joint in profile.joints
        ]
        self.assertEqual(document.get("joints", []), joints)
        self.assert_operations(document, profile)
        self.assert_timeline(document, profile)
        self.assert_groups(document, profile)

    def assert_file(self, path):
        """What is read from a file, and from osprof's JSON of it, is what that JSON says."""
        text = self.run_osprof("show", "--json", path)
        document = json.loads(text)
        documents = document.get("layers", [document])
        for recording in (osprof.load_recording(path), osprof.load_recording(as_file(text))):
            self.assertEqual(len(documents), len(recording.layers))
            for one, profile in zip(documents, recording.layers):
                self.assert_profile(one, profile)
        return document


CALLERS = TESTS / "fuzz" / "corpus-profile" / "callers.osprof"
CELL = ("number", "bucket", "count")
FACTS = """elapsed_cycles elapsed_seconds stolen_seconds stopped_seconds storage_read_bytes cache_read_bytes
    cache_missed_bytes cache_unjudged_bytes user_time_seconds system_time_seconds queue_time_seconds
    program_time_seconds locking_time_seconds clamped ungrouped slow_cycles slow_seconds interval_cycles
    interval_seconds page_faults seen_bytes kernel_bytes elsewhere_bytes not_seen threads_max not_told cost_seconds
    cost_calls disk_bytes disk_seconds disk_other_bytes waiting_requests exit runs merged chosen_groups missed_cycles
    missed_seconds""".split()


def readable(text):
    """As JSON has it: what is not UTF-8 becomes U+FFFD."""
    return text and text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def known(members):
    known_ones = {name: value for name, value in members.items() if value is not None and value is not False}
    return {name: readable(value) if isinstance(value, str) else value for name, value in known_ones.items()}


def as_data(calls):
    """Without the sentence for people."""
    return [{name: value for name, value in call.items() if name != "holder"} for call in calls]


def call_of(call, latency):
    members = dict(vars(call), op=call.operation)
    members["links"] = [known(vars(link)) for link in call.links] or None
    members[latency + "_seconds"] = getattr(call, latency + "_seconds")
    return known({name: value for name, value in members.items() if name not in ("scale", "operation")})


def buckets_of(distribution):
    """As JSON has them."""
    return [
        known(dict(vars(bucket), bucket=bucket.number, number=None)) for bucket in distribution.histogram
    ]


def cause_of(cause):
    members = {
        "op": cause.operation,
        "cause": cause.text,
        **{member: getattr(cause, member) for member in ("cause_id", "cause_class", "other_thread", "since_before")},
        "calls": cause.calls,
        "total_cycles": cause.total_cycles,
        "total_seconds": cause.total_seconds,
        "longest_cycles": cause.longest_cycles,
        "longest_seconds": cause.longest_seconds,
        "buckets": cause.latencies and buckets_of(cause.latencies),
    }
    return known(members)


class KeptProfiles(Figures):
    def test_profiles_of_the_tests_have_the_figures_of_osprof(self):
        for name, data in sound_profiles():
            with self.subTest(name):
                self.assert_file(self.file("profile", data))

    def test_a_calm_profile_is_the_same_from_text_and_json(self):
        (text,) = corpus("profile")[:1]
        shown = self.run_osprof("show", "--json", self.file("profile", text))
        self.assertEqual(osprof.load(as_file(text)), osprof.load(as_file(shown)))

    def test_resolutions_have_their_own_buckets(self):
        for resolution in (1, 2, 4, 8):
            counts = " ".join(str(bucket * 7 % 5) for bucket in range(64 * resolution))
            calls = sum(map(int, counts.split()))
            for total in (0, calls * 12345, 2**63):
                text = f"# clock: tsc 2345678901 Hz\n# resolution: {resolution}\nOP_READ {calls} {total}\n {counts}\n"
                with self.subTest(resolution=resolution, total=total):
                    self.assert_file(self.file("profile", text.encode()))

    def test_few_calls_are_known_by_their_total_and_the_longest(self):
        for longest in ("", "# longest: READ 1500 object 0\n", "# longest: READ 2047 object 7 path /a b\n"):
            for total in (1100, 2500, 3000, 4094, 9999):
                text = f"# clock: monotonic 1000000000 Hz\n{longest}OP_READ 2 {total}\n" + " 0" * 10 + " 2\n"
                with self.subTest(longest=longest, total=total):
                    self.assert_file(self.file("profile", text.encode()))

    def test_functions_that_made_slow_calls(self):
        self.assert_file(CALLERS)
        profile = osprof.load(CALLERS)
        self.assertEqual(["fsync < commit_row < main < ..."], [call.user_stack for call in profile.slow_calls])
        self.assertEqual([("db", "commit_row", 4)], [
            (caller.program, caller.function, caller.calls) for caller in profile.slow_callers
        ][:1])
        refused = (b"call: FSYNC age 1 pid 1 user_stack 2", b"call: FSYNC age 1 pid 1 uid 1",
                   b"slow_caller: FSYNC calls 1 program db", b"slow_caller: FSYNC calls 2")
        for line in refused:
            data = CALLERS.read_bytes().replace(b"OP_FSYNC", b"# " + line + b"\nOP_FSYNC")
            with self.subTest(line), self.assertRaises(osprof.FormatError):
                osprof.load(as_file(data))
            self.run_osprof("show", self.file("refused", data), statuses=(2,))

    def test_looks_of_operations(self):
        lines = b"# busy: 7 looks 9 most 2\n# busy_ops:%s\nOP_READ 1 1\n 1\nOP_WRITE 1 1\n 1\n"
        for looks in (b" none", b" READ 7", b"  WRITE 3 READ 5 "):
            with self.subTest(looks):
                self.assert_file(self.file("profile", lines % looks))


class Meaning(ScratchTest):
    def test_percentiles_of_known_calls(self):
        text = b"# clock: tsc 1000 Hz\n# longest: READ 1000 object 0\nOP_READ 4 1012\n 0 0 2 1 0 0 0 0 0 1\n"
        read = osprof.load(as_file(text)).operations["READ"]
        self.assertEqual(1000, read.percentile(1).cycles)
        self.assertEqual(1.0, read.percentile(0.999).seconds)
        self.assertEqual((3, 8.0, 16.0), (read.latency_of_rank(3).bucket, *bounds(read, 8)))
        self.assertIsNone(read.latency_of_rank(5))
        for share in (0, -1, 1.5, float("nan"), float("inf")):
            with self.assertRaises((ValueError, OverflowError)):
                read.percentile(share)

    def test_a_decimal_share_is_itself(self):
        text = b"OP_READ 10 0\n 9 1\n"
        read = osprof.load(as_file(text)).operations["READ"]
        self.assertEqual([0, 1], [read.percentile(share).bucket for share in (0.9, 0.91)])

    def test_seconds_are_unknown_without_a_rate(self):
        read = osprof.load(DATA / "show-bare.osprof").operations.popitem()[1]
        self.assertIsNone(read.total_seconds)
        self.assertIsNone(read.percentile(0.5).seconds)
        self.assertIsNone(read.histogram[0].lower_seconds)

    def test_names_that_are_not_utf_8_can_be_opened(self):
        text = b"# lower: /srv/\xff\\012x\nOP_READ 1 1\n 1\n# file: 0 /\xe9\\134\nOP_READ 1 1\n 1\n"
        profile = osprof.load(as_file(text))
        self.assertEqual("/srv/\udcff\nx", profile.labels["lower"])
        self.assertEqual("/\udce9\\", profile.groups_of("file")[0].name)

    def test_escaped_names_are_those_that_were_given(self):
        name = "/a\x1b[31m\u009b\u202e\u200f\ufeff\udcff\\e"
        escaped = "".join(
            f"\\{byte:03o}" if byte >= 0x7F or byte < 0x20 or byte == 0x5C else chr(byte)
            for byte in name.encode("utf-8", "surrogateescape")
        )
        text = f"# lower: {escaped}\nOP_READ 1 1\n 1\n# program: {escaped}\nOP_READ 1 1\n 1\n"
        profile = osprof.load(as_file(text.encode()))
        self.assertEqual(name, profile.labels["lower"])
        self.assertEqual(name, profile.groups_of("program")[0].name)

    def test_keys_of_labels_are_plain(self):
        for key in ("a\u009b", "a\u202e", "a\u200b", "a\ufeff", "a\x1b", "a\udcff"):
            with self.assertRaisesRegex(osprof.FormatError, "^line 1: expected "):
                osprof.load(as_file(f"# {key}: x\nOP_READ 1 1\n 1\n".encode("utf-8", "surrogateescape")))

    def test_layers_of_a_recording(self):
        recording = osprof.load_recording(DATA / "layers.osprof")
        names = [profile.layer for profile in recording.layers]
        documents = self.shown(DATA / "layers.osprof")["layers"]
        self.assertEqual([document["labels"]["layer"] for document in documents], names)
        self.assertIs(recording.layers[-1], recording[names[-1]])
        self.assertEqual(recording[names[0]], osprof.load(DATA / "layers.osprof", layer=names[0]))
        self.assertIsNone(recording.table)
        with self.assertRaises(KeyError):
            osprof.load(DATA / "layers.osprof", layer="none")
        with self.assertRaisesRegex(osprof.FormatError, "layers.osprof: .* of the layers " + ", ".join(names)):
            osprof.load(DATA / "layers.osprof")

    def test_the_table_of_a_recording_in_json(self):
        text = self.run_osprof("show", "--json", DATA / "layers.osprof")
        table = osprof.load_recording(as_file(text)).table
        rows = json.loads(text)["table"]
        self.assertEqual([row["name"] for row in rows], [row.name for row in table])
        for row, read in zip(rows, table):
            cells = [dict(vars(cell), asynchronous_below=cell.asynchronous_below or None) for cell in read.layers]
            self.assertEqual(row["layers"], [known(cell) for cell in cells])


def bounds(distribution, cycles):
    bucket = next(bucket for bucket in distribution.histogram if bucket.lower_cycles == cycles)
    return bucket.lower_cycles, bucket.upper_cycles


if __name__ == "__main__":
    unittest.main()
