"""print() shows a screen of what was read, with the figures of osprof show and osprof compare, and repr() is a line."""

import json
import re
import subprocess
import sys
import unicodedata
import unittest

import osprof
from helpers import DATA, TESTS, ScratchTest, as_file, sound_profiles

ANSWER = """\
layer      fs
host       node1
lower      /srv/projects/a directory/with a long name/and parts
elapsed    12.4 s
total      6.47 s in 495,550 calls of 6 operations

operation          calls    total     mean      p50       max
READ             420,000   3.19 s  7.61 µs  2.95 µs   <131 µs
FSYNC                212   1.33 s  6.29 ms  5.93 ms  <8.39 ms
WRITE              3,001   1.18 s   393 µs   371 µs   <524 µs
LOOKUP            70,321   432 ms  6.14 µs  5.79 µs  <8.19 µs
COPY_FILE_RANGE       13   327 ms  25.2 ms  23.7 ms  <33.6 ms
GETXATTR           2,003  6.15 ms  3.07 µs  2.90 µs  <4.10 µs"""


def columns(text):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


class Summary(ScratchTest):
    def assert_screen(self, read):
        """Returns its lines."""
        lines = str(read).split("\n")
        self.assertLessEqual(len(lines), 24, str(read))
        for line in lines + [repr(read)]:
            self.assertLessEqual(columns(line), 120 if line == repr(read) else 80, line)
            self.assertTrue(line.isprintable(), ascii(line))
            line.encode("utf-8")
        return lines

    def test_every_profile_is_a_screen(self):
        for name, data in sound_profiles():
            with self.subTest(name):
                run = osprof.load_recording(as_file(data))
                self.assert_screen(run)
                for profile in run.layers:
                    self.assert_screen(profile)
                    for one in list(profile.operations.values()) + profile.groups[:20]:
                        self.assertEqual(1, len(self.assert_screen(one)))

    def test_a_profile(self):
        profile = osprof.load(DATA / "show-answer.osprof")
        self.assertEqual(ANSWER, str(profile))
        self.assertEqual(ANSWER, str(osprof.load_recording(DATA / "show-answer.osprof")))
        place = "/srv/projects/a direc..."
        self.assertEqual(
            f"<Profile: fs, {place}, 12.4 s elapsed, 6.47 s in 495,550 calls of 6 operations>", repr(profile)
        )
        self.assertEqual(
            "<Operation: FSYNC, 212 calls, total 1.33 s, mean 6.29 ms, p50 5.93 ms, max <8.39 ms>",
            repr(profile.operations["FSYNC"]),
        )
        group = profile.groups_of("program")[0]
        self.assertRegex(repr(group), r"^<Group: program \S+, .* in 10,000 calls of 1 operation>$")

    def test_the_figures_are_those_of_osprof_show(self):
        rows_seen = 0
        for name in ("show-answer", "show-grep", "show-longest", "plot-sampled", "show-outcomes", "show-bare"):
            shown = self.run_osprof("show", "--width", "200", DATA / (name + ".osprof")).decode()
            for line in str(osprof.load(DATA / (name + ".osprof"))).split("\n\n")[1].split("\n")[1:]:
                cells = re.split("  +", line)
                if line.startswith("..."):
                    continue
                operation, calls, total, mean, p50, longest = cells
                figures = [re.escape(figure) for figure in (total, mean, p50)]
                self.assertRegex(shown, rf"(?m)^{operation} +{calls} .*" + " +".join(figures))
                self.assertTrue(longest.startswith("<") or longest in shown, longest)
                rows_seen += 1
        self.assertGreater(rows_seen, 20)

    def test_max_is_exact_if_it_is_known(self):
        profile = osprof.load(DATA / "show-longest.osprof")
        for operation in profile.operations.values():
            if operation.counts:
                self.assertEqual(operation.longest_cycles is None, "max <" in repr(operation))

    def test_many_operations(self):
        for count, shown in ((18, 18), (19, 19), (20, 20), (21, 19), (4000, 19)):
            text = "# osprof 1\n# layer: fs\n" + "".join(f"OP_X{n} 1 {n + 1}\n 1\n" for n in range(count))
            lines = self.assert_screen(osprof.load(as_file(text.encode())))
            rows = [line for line in lines if line.startswith("X")]
            self.assertEqual(shown, len(rows))
            self.assertTrue(rows[0].startswith(f"X{count - 1} "), rows[0])
            rest = [] if shown == count else [f"... and {count - shown:,} more operations"]
            self.assertEqual(rest, [line for line in lines if line.startswith("...")])

    def test_profiles_without_calls(self):
        self.assertEqual("elapsed    1.50 ms\ntotal      no calls", str(osprof.load(DATA / "show-empty.osprof")))
        self.assertEqual("<Profile: no calls>", repr(osprof.load(as_file(b"# osprof 1\n"))))
        in_flight = osprof.load(as_file(b"# osprof 1\nOP_READ 1 0\n-\n"))
        self.assertEqual("<Operation: READ, 1 call, total 0, mean -, p50 -, max ->", repr(in_flight.operations["READ"]))

    def test_what_is_missing_is_said(self):
        text = b"# osprof 1\n# layer: user\n# merged: 3\n# incomplete: yes\nOP_READ 1 0\n-\n"
        lines = str(osprof.load(as_file(text))).split("\n")
        self.assertIn("sum of     3 profiles", lines)
        self.assertIn("incomplete calls are missing", lines)
        lines = str(osprof.load_recording(as_file(text + b"# osprof 1\n# layer: fs\nOP_READ 1 0\n-\n"))).split("\n")
        self.assertIn("incomplete calls are missing at user", lines)

    def test_the_exit_of_the_command(self):
        for line, shown in (("status 0 signal 0", "status 0"), ("status 3 signal 0", "status 3"), ("signal 9", "signal 9")):
            profile = osprof.load(as_file(f"# osprof 1\n# layer: user\n# exit: {line}\nOP_READ 1 1\n 1\n".encode()))
            self.assertIn(f"exit       {shown}", str(profile).split("\n"))
        self.assertNotIn("exit", str(osprof.load(DATA / "show-answer.osprof")))

    def test_names_of_others(self):
        for name in ("a" * 600000, "\u6f22" * 300, "\x1b[31m\n" * 200, "\u202e\udcff"):
            text = "# osprof 1\n# command: {0}\n# host: {0}\nOP_READ 1 1\n 1\n# program: {0}\nOP_READ 1 1\n 1\n"
            name = name.replace("\n", "\\012")
            data = text.replace("# program: {0}", "# program: " + name[:60]).format(name)
            profile = osprof.load(as_file(data.encode("utf-8", "surrogateescape")))
            self.assert_screen(profile)
            self.assert_screen(profile.groups[0])

    def test_a_run(self):
        run = osprof.load_recording(DATA / "layers.osprof")
        lines = self.assert_screen(run)
        self.assertEqual(["host       node1", "command    make -j2", "elapsed    2.70 s", ""], lines[:4])
        for profile in run.layers:
            begin = next(at for at, line in enumerate(lines) if line.startswith(profile.layer + " "))
            self.assertIn(f" {sum(one.calls for one in profile.operations.values()):,} ", lines[begin])
            largest = max(profile.operations.values(), key=lambda one: one.total_cycles)
            self.assertRegex(lines[begin + 1], rf"^  {largest.name} +{largest.calls:,} ")
            shown = next(at for at in range(begin + 1, 99) if lines[at].startswith("  ...")) - begin - 1
            self.assertIn(f"  ... and {len(profile.operations) - shown} more operations", lines[begin + 1 + shown])
        self.assertRegex(repr(run), r"^<Recording: layers user 531 ms in 17,442 calls of 10 operations; fuse ")

    def test_a_run_of_many_layers(self):
        names = ["user", "syscall", "fuse", "queue", "daemon", "fs", "block"]
        text = "".join(f"# osprof 1\n# layer: {name}\nOP_READ 1 1\n 1\nOP_OPEN 1 1\n 1\n" for name in names)
        lines = self.assert_screen(osprof.load_recording(as_file(text.encode())))
        rows = [line.split()[0] for line in lines if line]
        self.assertEqual(sorted(names), sorted(name for name in rows if name in names))

    def test_a_comparison(self):
        options = (DATA / "compare-before.osprof", DATA / "compare-after.osprof")
        text = self.run_osprof("compare", "--json", *options, statuses=(0, 1))
        lines = self.assert_screen(osprof.load_comparison(as_file(text)))
        shown = self.run_osprof("compare", "--width", "200", *options, statuses=(0, 1)).decode()
        document = json.loads(text)
        changed = sum(op["different"] for op in document["ops"])
        self.assertTrue(lines[0].startswith(f"{len(document['ops'])} operations: {changed} changed, "), lines[0])
        self.assertRegex(lines[1], r"^A .*compare-before.osprof: 421 ms in 77,513 calls, 2.55 s elapsed$")
        rows = [re.split("  +", line) for line in lines[lines.index("") + 2 :]]
        self.assertEqual([op["op"] for op in document["ops"]], [row[0] for row in rows])
        for op, (name, verdict, a, b, ratio, a_calls, b_calls) in zip(document["ops"][:changed], rows):
            self.assertEqual("changed", verdict)
            self.assertRegex(shown, rf"(?m)^{name} +{a} +{b} +[\d.]+ +{a_calls} +{b_calls} ")
            self.assertLess(abs(float(ratio) / op["mean_ratio"] - 1), 0.006)

    def test_a_verdict(self):
        for prefix, change in (("a", "READ=1"), ("b", "READ=2")):
            command = [sys.executable, TESTS / "cli" / "make_runs.py", prefix, "5", change]
            subprocess.run(command, cwd=self.scratch, check=True)
        runs = [sorted(name.name for name in self.scratch.glob(prefix + "*")) for prefix in "ab"]
        text = self.run_osprof("compare", "--json", *runs[0], "--", *runs[1], statuses=(0, 1))
        read = osprof.load_verdict(as_file(text))
        lines = self.assert_screen(read)
        self.assertTrue(lines[0].startswith("9 operations: 1 slower, "), lines[0])
        mean = read.operations["READ"].figures["mean"]
        row = next(line for line in lines if line.startswith("READ "))
        self.assertRegex(row, rf"slower .* {mean.ratio:.2f} \[{mean.low:.2f}-{mean.high:.2f}\]$")
        read.ops *= 200
        self.assertEqual("... and 1,784 more operations", self.assert_screen(read)[-1])
        read.ops, read.elapsed, read.total = [], None, None
        self.assertEqual(["0 operations", "A          5 runs", "B          5 runs"], self.assert_screen(read))

    def test_waits(self):
        one = dict(program="cat", waiting_now=1, longest_seconds=1, cause_class="lock", named=True, waits=3)
        one["class"] = "held up"
        held_up = [dict(one, cause=f"lock {number}", total_seconds=number) for number in range(40)]
        work = dict(one, cause="requests", total_seconds=1000, **{"class": "work"})
        document = {"version": 1, "waits": held_up + [work], "elapsed_seconds": 10, "total_seconds": 780}
        document.update(threads=7, processes=1, threads_of_work=1, unnamed_seconds=0, work_seconds=1000)
        document.update(lost_waits=0, skipped_waits=0)
        lines = self.assert_screen(osprof.load_waits(as_file(json.dumps(document).encode())))
        self.assertEqual("7 threads of 1 process waited 780 s within 10.0 s", lines[0])
        self.assertRegex(lines[3], r"^cat: lock 39 +3 +39[.]0 s +1[.]00 s$")
        self.assertNotIn("requests", str(lines))
        self.assertEqual("... and 20 more waits", lines[-1])


if __name__ == "__main__":
    unittest.main()
