"""Profiles that have just been recorded: intervals, groups, several runs, and what threads wait for."""

import json
import os
import unittest

import osprof
from helpers import ScratchTest, as_file
from test_events import Calls
from test_profiles import Figures


class Recorded(Figures):
    def setUp(self):
        super().setUp()
        library = os.path.join(os.environ["OSPROF_LIBRARIES"], "libosprof_posix.so")
        with open(library, "rb") as file:
            data = file.read()
            if b"__asan_init" in data or b"__tsan_init" in data:
                self.skipTest("a library with a sanitizer cannot be preloaded into programs without")
        self.work = self.scratch / "work"
        self.work.mkdir()

    def record(self, options, *command):
        path = self.scratch / "recorded"
        self.run_osprof("run", "--layers", "user", "-d", ".", *options, "-q", "-o", path, "--", *command, cwd=self.work)
        return path

    def test_a_command(self):
        for name in range(17):
            (self.work / str(name)).write_bytes(b"x" * 100)
        path = self.record([], "ls", "-l")
        self.assert_file(path)
        profile = osprof.load(path)
        self.assertEqual("user", profile.layer)
        self.assertEqual("ls -l", profile.labels["command"])
        calls = [profile.operations[name].calls for name in ("LSTAT", "STATX") if name in profile.operations]
        self.assertEqual(17, sum(calls))

    def test_intervals_and_groups(self):
        for name in "abcde":
            (self.work / name).write_bytes(b"x" * 1000)
        loop = "for i in 1 2 3; do cat a b c d e >/dev/null; sleep .03; done"
        path = self.record(["--interval", "10ms", "--by", "file+program", "--resolution", "4"], "sh", "-c", loop)
        self.assert_file(path)
        profile = osprof.load(path)
        self.assertEqual(4, profile.resolution)
        intervals = profile.intervals("READ")
        self.assertGreaterEqual(len([interval for interval in intervals if interval.finished]), 3)
        self.assertEqual(profile.operations["READ"].finished, sum(interval.finished for interval in intervals))
        self.assertEqual(profile.elapsed_cycles, intervals[-1].end_cycles)
        files = {os.path.basename(group.name): group for group in profile.groups_of("file") if group.who == "id"}
        self.assertEqual([6] * 5, [files[name].operations["READ"].calls for name in "abcde"])
        self.assertIn("cat", [group.name for group in profile.groups_of("program")])

    def test_a_name_that_is_not_utf_8(self):
        name = os.fsdecode(b"\xff\xfe\n")
        (self.work / name).write_bytes(b"x")
        path = self.record(["--by", "file"], "cat", name)
        self.assert_file(path)
        self.assertIn(name, [os.path.basename(group.name or "") for group in osprof.load(path).groups_of("file")])


class RecordedEvents(Calls):
    @unittest.skipUnless(os.access("/dev/fuse", os.R_OK | os.W_OK), "/dev/fuse is not there, or not for this user")
    def test_calls_of_a_mount_with_names(self):
        work = self.scratch / "work"
        work.mkdir()
        files = "mkdir a; echo x >a/b; cat a/b; mv a/b a/c; ls -l a; ln -s c a/d; cat a/none; rm -r a"
        options = ("--layers", "fs", "-d", ".", "--mount-option", f"events={self.scratch}/events,events_names", "-q")
        self.run_osprof("run", *options, "--", "sh", "-c", files, cwd=work)
        events = self.assert_calls((self.scratch / "events").read_bytes())
        self.assertIn(("CREATE", "/a/b"), [(call.operation, call.path) for call in events])
        self.assertIn(("LOOKUP", "/a/none"), [(call.operation, call.path) for call in events])
        profile = osprof.load(as_file(self.run_osprof("events", "profile", "--all", self.scratch / "events")))
        for name, operation in profile.operations.items():
            calls = [call for call in events if call.operation == name]
            buckets = [profile.scale.bucket_of(call.latency_cycles) for call in calls]
            self.assertEqual(operation.counts, {bucket: buckets.count(bucket) for bucket in sorted(set(buckets))})
            self.assertEqual(operation.total_cycles, sum(call.latency_cycles for call in calls))
            self.assertEqual(operation.longest_cycles, max(call.latency_cycles for call in calls))


class Waits(ScratchTest):
    def test_waits_of_all_threads(self):
        try:
            text = self.run_osprof("why", "-a", "--json", "--for", "100ms")
        except AssertionError as error:
            self.skipTest(str(error))
        document, waits = json.loads(text), osprof.load_waits(as_file(text))
        self.assertEqual(document["total_seconds"], waits.total_seconds)
        self.assertEqual(len(document["waits"]), len(waits.waits))
        for one, wait in zip(document["waits"], waits.waits):
            members = {name: value for name, value in vars(wait).items()
                       if value is not None and (value is not False or name == "named")}
            members["links"] = [
                {name: value for name, value in vars(link).items() if value is not None and value is not False}
                for link in wait.links
            ]
            if "holder" not in members:
                del members["links"]
            members["class"] = members.pop("wait_class")
            self.assertEqual(one, members)


if __name__ == "__main__":
    unittest.main()
