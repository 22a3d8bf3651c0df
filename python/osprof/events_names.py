"""Names in events files: paths of nodes, and the processes of threads."""

import bisect

from .text_lines import decoded

_PATH, _TASK = 1, 2
_DEPTH_MAX = 128
_PATH_BYTES_MAX = 4607


class Names:
    """The string table of a file, and the names by which calls have found nodes."""

    def __init__(self, struct_of_string):
        self._head = struct_of_string
        self._paths = {}  # node: [(cycles, bytes)] in the order of the file
        self._tasks = {}  # thread: (process, bytes); the last one
        self._links = {}  # node: [(cycles, directory, name)], sorted

    def take(self, inside):
        """Takes the entries of a chunk. Returns False if it is broken inside."""
        at = 0
        while at < len(inside):
            if len(inside) - at < self._head.size:
                return False
            kind, length, key, value = self._head.unpack_from(inside, at)
            at += self._head.size
            if len(inside) - at < (length + 7) // 8 * 8:
                return False
            text = bytes(inside[at : at + length]).split(b"\0", 1)[0]
            at += (length + 7) // 8 * 8
            if kind == _PATH:
                self._paths.setdefault(key, []).append((value, text))
            elif kind == _TASK:
                self._tasks[key] = value, text
        return True

    def add_link(self, node, cycles, directory, name):
        self._links.setdefault(node, []).append((cycles, directory, name))

    def sort_links(self):
        for links in self._links.values():
            links.sort(key=lambda link: link[0])

    def _recorded_path(self, node, cycles):
        """The path as it was known at that time, else the next one known."""
        found = None
        for since, path in self._paths.get(node, ()):
            if found is None or since <= cycles:
                found = path
        return found

    def _link(self, node, cycles):
        """The last link until then, else the next one."""
        links = self._links.get(node)
        if not links:
            return None
        return links[max(bisect.bisect_right([link[0] for link in links], cycles) - 1, 0)]

    def path(self, node, cycles, name=None):
        """The path of a node, or of a name in the directory that it is; None: not known. name: bytes"""
        names = [] if name is None else [name]
        path = self._recorded_path(node, cycles)
        depth = 0
        while path is None and depth < _DEPTH_MAX:
            link = self._link(node, cycles)
            if link is None:
                break
            names.append(link[2])
            node = link[1]
            path = self._recorded_path(node, cycles)
            depth += 1
        if path is None:
            names, path = names[:1] if name is not None else [], b""
        for part in reversed(names):
            path += (b"" if not path or path.endswith(b"/") else b"/") + part.split(b"\0", 1)[0]
        return decoded(path[:_PATH_BYTES_MAX]) or None

    def task(self, thread):
        """The process of a thread and the program's name; None for what is not known."""
        process, name = self._tasks.get(thread, (0, b""))
        return process or None, decoded(name) or None
