"""scan.py DIRECTORY PERCENT: lists a tree, and asks for the attributes of so many of a hundred files as they are listed."""

import os
import sys

directories = [sys.argv[1]]
percent = int(sys.argv[2])
files = 0
while directories:
    with os.scandir(directories.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.path)
                continue
            files += 1
            if files * percent % 100 < percent:
                os.lstat(entry.path)
