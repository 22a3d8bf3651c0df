#!/usr/bin/env python3
"""Makes a C header of a style sheet and a script, with their hashes for a content-security policy: embed.py CSS JS HEADER."""

import base64
import hashlib
import json
import sys


def define(name, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    lines = "".join(f" \\\n    {json.dumps(line)}" for line in text.splitlines(keepends=True))
    return f'#define {name}{lines}\n#define {name}_HASH "sha256-{digest}"\n'


with open(sys.argv[3], "w", encoding="ascii") as header:
    header.write(define("REPORT_STYLE", sys.argv[1]) + define("REPORT_SCRIPT", sys.argv[2]))
