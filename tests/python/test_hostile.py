"""Whatever a text holds, reading it ends with objects or with a FormatError that says where and why.

What osprof refuses is refused here, and what it takes is taken, with the same figures.
"""

import json
import random
import unittest

import osprof
from helpers import DATA, TESTS, as_file, sound_profiles
from mutations import ReadOrRefused, mutated, mutated_lines
from test_profiles import Figures


class Hostile(Figures, ReadOrRefused):
    def test_mutated_texts_are_taken_or_refused_as_osprof_does(self):
        random_one = random.Random(4711)
        profiles = [(name, data) for name, data in sound_profiles() if len(data) < 20000]
        taken = {True: 0, False: 0}
        for number in range(40):
            name, data = profiles[number % len(profiles)]
            data = (mutated if random_one.random() < 0.3 else mutated_lines)(data, random_one)
            if data.startswith(b"OSPROFLV") or not data.strip():
                continue
            with self.subTest(number=number, name=name):
                path = self.file("mutated", data)
                is_taken = self.assert_read_or_refused(osprof.load_recording, data)
                text = self.run_osprof("show", "--json", path, statuses=(0,) if is_taken else (2,))
                taken[is_taken] += 1
                if is_taken:
                    documents = json.loads(text)
                    for one, profile in zip(documents.get("layers", [documents]), osprof.load_recording(path).layers):
                        self.assert_profile(one, profile)
        self.assertGreater(min(taken.values()), 5, taken)

    def test_inputs_of_the_fuzzers(self):
        for path in sorted((TESTS / "fuzz" / "corpus-profile").iterdir()):
            with self.subTest(path.name):
                is_taken = self.assert_read_or_refused(osprof.load_recording, path.read_bytes())
                self.run_osprof("show", "--json", path, statuses=(0,) if is_taken else (2,))

    def test_more_mutated_texts(self):
        random_one = random.Random(815)
        profiles = [data for _, data in sound_profiles() if len(data) < 20000]
        for number in range(600):
            data = mutated(random_one.choice(profiles), random_one)
            with self.subTest(number=number):
                self.assert_read_or_refused(osprof.load_recording, data)

    def test_errors_name_file_and_line(self):
        for name in sorted(DATA.glob("should-fail-*.osprof")):
            with self.subTest(name.name), self.assertRaises(osprof.FormatError) as caught:
                osprof.load(name)
            complaint = self.run_complaint(name)
            self.assertTrue(str(caught.exception).startswith(str(name)), caught.exception)
            if caught.exception.line:
                self.assertIn(f": line {caught.exception.line}: ", str(caught.exception))
                self.assertIn(f"line {caught.exception.line}:", complaint)

    def run_complaint(self, name):
        with self.assertRaises(AssertionError) as caught:
            self.run_osprof("show", "--json", name)
        return str(caught.exception)

    def test_words_of_errors(self):
        rows = (
            (b"OP_READ 1 x\n 1\n", 'x: line 1: expected the total latency in cycles, found "x"'),
            (b"OP_READ 1 1\n", "x: line 1: expected a row of bucket counts after OP_READ, found the end of the file"),
            (b"# clock: tsc 0 Hz\n", 'x: line 1: expected a clock rate above 0, found "0"'),
            (b"OP_READ 1 1\n 1 1\n", "x: line 2: expected buckets that sum up to at most 1 calls of OP_READ"),
            (
                b"OP_READ 1 1\n \x1b[31m\xff\n",
                'x: line 2: expected bucket counts separated by blanks, or -, found "?[31m\ufffd"',
            ),
            (b'{"version": 1,\n\n x}', "x: line 3: expected JSON: Expecting property name enclosed in double quotes"),
            (b'{"ops": [], "version": 2}', "x: version: expected 1, found 2"),
            (b'{"layers": [{}], "version": 1}', 'x: layers[0]: expected a member "version"'),
            (
                b"OP_READ 1 1\n 1",
                "x: line 2: expected a whole profile, found a text that ends within a line: it was cut short",
            ),
        )
        for data, message in rows:
            file = as_file(data)
            file.name = "x"
            with self.subTest(message), self.assertRaises(osprof.FormatError) as caught:
                osprof.load(file)
            self.assertEqual(message, str(caught.exception))

if __name__ == "__main__":
    unittest.main()
