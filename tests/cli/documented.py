"""documented.py OSPROF FILE...: whether the command lines of osprof that documents and manual pages show are such as it takes:
each is given --help in addition, so that nothing is done, but all options and their values are read. Prints those that are
refused, and why; ends with 1 if there are any, with 2 if there are none at all."""

import re
import shlex
import subprocess
import sys

osprof, *files = sys.argv[1:]
NO_COMMANDS = {"COMMAND", "help", "--help", "--version", "1", "calibration", "for"}  # heads of files, sentences
PLACEHOLDERS = {"TIME": "10s", "N": "2", "KIND": "file", "KIND[+KIND]...": "file", "OP": "READ", "OP:VALUE": "READ:size", "LAYER": "fs"}


def lines_of(name):
    """Yields (line number, text that may begin with a command)"""
    with open(name, encoding="utf-8") as file:
        text = file.read()
    joined = re.sub(r"\\\n\s*", lambda match: " " * len(match[0]), text) if name.endswith(".md") else text
    for number, line in enumerate(joined.splitlines(), 1):
        if name.endswith(".md"):
            if re.match(r"\s*(?:[$#>] )?(?:sudo )?osprof ", line) and not re.match(r"osprof ", line):
                yield number, re.sub(r"^\s*(?:[$#>] )?(?:sudo )?", "", line)
            for inline in re.findall(r"`(?:sudo )?(osprof [^`]+)`", line):
                yield number, inline
        else:
            line = line.replace(r"\-", "-").replace(r"\(aq", "'").replace(r"\e", "\\")
            match = re.match(r"(?:\.Dl |\.D1 )?(?:[$#] )?(?:sudo )?(osprof .*)", line)
            if match:
                yield number, match[1]


def rows_of(*words):
    answer = subprocess.run([osprof, "--complete", *words], capture_output=True, text=True, check=False)
    return [line.split() for line in answer.stdout.splitlines()] if answer.returncode == 0 else None


def options_of(words):
    """The options of a command that take a value, how many words its name has, and whether its options end with the first
    argument; None: there is no such command"""
    rows = rows_of(words[0])
    count = 1
    if rows and words[0] == "events":
        rows = rows_of(*words[:2])
        count = 2
    if not rows:
        return None
    ends_options = words[0] == "ctl" or any(row[0] == "*" and row[1] == "command" for row in rows)
    return {row[0] for row in rows if row[0] != "*" and row[1] != "flag"}, count, ends_options


def with_help(words):
    """The words with --help where options still may stand. A sentence that ends with an option is about the option: it
    has no value there."""
    known = options_of(words)
    if not known:
        return None
    valued, count, ends_options = known
    at = count
    while at < len(words):
        word = words[at]
        if word == "--" or (ends_options and not word.startswith("-")):
            break
        if word in valued and at + 1 == len(words):
            break
        at += 2 if word in valued else 1
    return words[:at] + ["--help"] + words[at:]


def command_of(text):
    """The words of the first command of a line of shell; None: it is a synopsis, or no whole command"""
    text = re.sub(r'"?\$(\([^)]*\)|\w+)"?', "1", re.split(r"\s#\s|\s{2,}#", text)[0])
    if re.search(r"\[[A-Z]|\.\.\.$| \.\.\. |\$\(|\b[A-Z]+\|", text) and not re.search(r"'[^']*\.\.\.", text):
        text = re.sub(r"\s*\.\.\.(?=$|\s)", "", text)
        if re.search(r"\[|\b[A-Z]+\|", text):
            return None
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = []
        for word in lexer:
            if set(word) <= set("|&;<>()"):
                break
            words.append(word)
    except ValueError:
        return None
    words = [PLACEHOLDERS.get(word, word) for word in words[1:]]
    return words if words and words[0] not in NO_COMMANDS else None


count = refused = 0
for name in files:
    for number, text in lines_of(name):
        words = command_of(text)
        if not words:
            continue
        count += 1
        asked = with_help(words) or [words[0], "--help"]
        answer = subprocess.run([osprof, *asked], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=20)
        if answer.returncode != 0:
            refused += 1
            print(f"{name}:{number}: osprof {shlex.join(words)}: {answer.stderr.strip()}")
print(f"{count} command lines, {refused} refused", file=sys.stderr)
sys.exit(1 if refused else 0 if count else 2)
