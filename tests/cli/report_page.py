"""What a report says, for a test: report_page.py WHAT PAGE [JSON], see the functions below. Reads HTML as browsers do.
"seen", "seen-changed": the same as "same" and "changed", of a page as a browser has it."""

import base64
import hashlib
import html.parser
import json
import math
import re
import sys

VOID = {"meta"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "script", "h1", "h2", "h3", "p", "a",
    "span", "div", "table", "tbody", "tr", "th", "td", "figure", "svg", "button", "rect", "path", "text", "details", "summary", "code",
}  # fmt: skip


class Node:
    def __init__(self, name, attributes=()):
        self.name, self.attributes, self.children = name, dict(attributes), []

    def text(self):
        text = "".join(child if isinstance(child, str) else child.text() for child in self.children)
        return f" {text} " if self.name in ("th", "td", "text", "a") else text

    def find(self, name):
        for child in self.children:
            if isinstance(child, Node):
                if child.name == name:
                    yield child
                yield from child.find(name)


class Page(html.parser.HTMLParser):
    """A tree of the page; anything that a page of ours never has is an error."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = Node("")
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert len(self.open) == 1, f"not closed: {[node.name for node in self.open]}"

    def handle_starttag(self, tag, attributes):
        assert tag in ALLOWED, f"a page has no <{tag}>"
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("src", "style"), f"{tag} {name}={value}"
            assert name != "href" or value.startswith("#"), f"leads elsewhere: {value}"
        node = Node(tag, attributes)
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open[-1].name == tag, f"</{tag}> ends <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)

    def handle_decl(self, decl):
        assert decl.lower() == "doctype html"

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def section(self, name):
        return next(node for node in self.root.find("section") if node.attributes["id"] == name)


def plain(text):
    return " ".join(text.split())


def rows(table):
    return [[plain(cell.text()) for cell in row.children if isinstance(cell, Node)] for row in table.find("tr")]


def number(text):
    return int(text.replace(",", ""))


def sentences(page, *names):
    """Those of sections, one a line, without what is about the page itself."""
    for name in names:
        for node in page.section(name).find("p"):
            if node.attributes.get("class") != "about":
                print(plain(node.text()))


def same(page, profile):
    """Its numbers are those of the profile: calls in the table, in histograms and in maps."""
    counts = {op["op"]: op for op in profile["ops"]}
    table = rows(next(page.section("operations").find("table")))
    assert {row[0]: number(row[1]) for row in table[1:]} == {name: op["calls"] for name, op in counts.items()}
    shown = 0
    for section in ("latency", "time"):
        try:
            title = [node.text() for node in page.section(section).find("h3")]
        except StopIteration:
            continue
        figures = list(page.section(section).find("figure"))
        assert len(title) == len(figures)
        for name, figure in zip(title, figures):
            calls = sum(number(row[1]) for row in rows(next(figure.find("table")))[1:])
            ended = sum(bucket["count"] for bucket in counts[name]["buckets"])
            assert calls == ended, f"{section} of {name}: {calls}, not {ended}"
            shown += 1
    print(shown)


def figures_of(page, section, columns):
    """The sums of columns of the figures below each picture, by the first word of its title."""
    titles = [node for node in page.section(section).children if isinstance(node, Node) and node.name in ("h3", "figure")]
    sums = {}
    for title, figure in zip(titles, titles[1:]):
        if figure.name != "figure":
            continue
        table = rows(next(figure.find("table")))
        at = [table[0].index(column) for column in columns]
        sums[title.text().split(":")[0]] = [sum(number(row[i]) for row in table[1:] if row[i] != "-") for i in at]
    return sums


def ratio(figure):
    """As a table has it, between a tenth and ten."""
    return "{ratio:.2f} [{low:.2f}\u2013{high:.2f}]".format(**figure)


def changed_ops(comparison):
    """Of each operation that changed: cells by title, and all its calls on both sides."""
    if "a_runs" in comparison:
        for op in comparison["ops"]:
            if op["verdict"] not in ("no change", "inconclusive", "as the rest", "few calls"):
                calls = [round(op[side + "_calls"] * comparison[side + "_runs"]) for side in "ba"]
                yield op["name"], {"mean, B/A": ratio(op["figures"]["mean"]), "typical, B/A": ratio(op["figures"]["typical"])}, calls
    else:
        for op in comparison["ops"]:
            if op["verdict"] == "changed":
                cells = {"calls, A": f"{op['a']['calls']:,}", "calls, B": f"{op['b']['calls']:,}"}
                yield op["op"], cells, [op[side]["finished"] for side in "ba"]


def changed(page, comparison):
    """Its figures and pictures of what has changed are those of osprof compare. Prints what changed."""
    table = rows(next(page.section("changed").find("table")))
    pictures = figures_of(page, "changes", ["calls, B", "calls, A"])
    ops = list(changed_ops(comparison))
    assert [row[0] for row in table[1:]] == [name for name, _, _ in ops], table
    for row, (name, cells, calls) in zip(table[1:], ops):
        for title, cell in cells.items():
            shown = row[table[0].index(title)]
            assert shown == cell, f"{title} of {name}: {shown}, not {cell}"
        assert pictures[name] == calls, f"calls in the picture of {name}: {pictures[name]}, not {calls}"
    print(*(name for name, _, _ in ops))


BAR_WIDTH = 480


def bar_of_time(page, profile):
    """The bar is as long as the wall time, or as all latency, and its parts are those of the table and of the profile. Prints
    "part: time" of each, then what is said about the bar."""
    section = page.section("wall")
    is_wall = plain(next(section.find("h2")).text()).startswith("Where the wall time went")
    picture = next(node for node in section.find("svg") if node.attributes["class"] == "parts")
    assert "figures follow" in picture.attributes["aria-label"], picture.attributes
    rects = list(picture.find("rect"))
    widths = [float(rect.attributes["width"]) for rect in rects]
    table = rows(next(section.find("table")))
    assert table[0] == ["part", "time", "% of wall time" if is_wall else "% of latency"], table[0]
    assert len(table) == 1 + len(rects), table
    end = 0
    for rect, width, (name, time, share) in zip(rects, widths, table[1:]):
        assert abs(float(rect.attributes["x"]) - end) < 0.02, f"{name} begins at {rect.attributes['x']}, not at {end}"
        assert rect.attributes["class"].startswith("part-") and "fill" not in rect.attributes
        assert plain(rect.text()) == f"{name}: {time}, {share}", plain(rect.text())
        assert share == f"{100 * width / BAR_WIDTH:.1f} %" or abs(float(share[:-2]) - 100 * width / BAR_WIDTH) < 0.06, share
        end += width
        print(f"{name}: {time}")
    assert abs(end - BAR_WIDTH) < 0.05, f"the parts end at {end}"
    totals = {op["op"]: op["total_cycles"] for op in profile["ops"] if op["total_cycles"]}
    whole = profile["elapsed_cycles"] if is_wall else sum(totals.values())
    named = [(name, width) for (name, _, _), width in zip(table[1:], widths) if name in totals]
    others = sum(totals.values()) - sum(totals[name] for name, _ in named)
    at_others = [row[0].endswith(" other operations") for row in table[1:]]
    for name, width in named:
        assert abs(width / BAR_WIDTH * whole - totals[name]) <= whole / 10000, f"{name}: {width} of {whole}"
    assert named == sorted(named, key=lambda part: -totals[part[0]]), named
    if any(at_others):
        width = widths[at_others.index(True)]
        assert table[1 + at_others.index(True)][0].split()[0] == str(len(totals) - len(named)), table
        assert abs(width / BAR_WIDTH * whole - others) <= whole / 10000, f"others: {width} of {whole}"
    else:
        assert others == 0, f"{others} cycles of operations are not in the bar"
    print(next(plain(node.text()) for node in section.find("p")))


WORDS = ("p50", "p90", "p99", "p99.9", "mean", "max", "longest", "their p50", "% of latency", "self")


def explained(page):
    """Titles of columns that are terms are explained, and so is p50 in a line beside each table of operations. Prints how
    many titles."""
    titles = [cell for cell in page.root.find("th") if cell.attributes.get("scope") == "col"]
    words = [cell for cell in titles if plain(cell.text()) in WORDS and cell.attributes.get("title") is not None]
    for cell in titles:
        is_of_bar = plain(cell.text()) == "% of latency" and "title" not in cell.attributes
        assert plain(cell.text()) not in WORDS or is_of_bar or cell.attributes.get("title"), plain(cell.text())
    for name in ("first", "operations"):
        lines = [plain(node.text()) for node in page.section(name).find("p") if node.attributes.get("class") == "about"]
        assert any("p50: half of the calls had at most this latency" in line for line in lines), lines
        assert any("max: the longest call" in line for line in lines), lines
    print(len(words))


def blocks(script):
    """The data of each operation in a script of osprof plot, in its order."""
    found = re.findall(r"\$op\d+(?:_1)? << EOD\n(.*?)EOD\n", script, re.S)
    return [[[float(value) for value in row.split()] for row in block.splitlines()] for block in found]


def pictures(page, section, kind):
    return [next(node for node in figure.find("svg") if node.attributes["class"] == kind) for figure in page.section(section).find("figure")]


def scale(span, value):
    return math.log(value / span[0]) / math.log(span[1] / span[0])


def bars(page, script):
    """Each bar is where osprof plot has it: operations in the same order, on the same axes. Prints how many there are."""
    spans = {axis: list(map(float, re.search(rf"set {axis}range \[(.*):(.*)\]", script).groups())) for axis in "xy"}
    drawn = pictures(page, "latency", "histogram")
    assert len(drawn) == len(blocks(script)), f"{len(drawn)} histograms"
    count = 0
    for picture, rows_of_plot in zip(drawn, blocks(script)):
        frame = {name: float(value) for name, value in next(picture.find("rect")).attributes.items() if name != "class"}
        path = next(node for node in picture.find("path") if node.attributes["class"] == "bars").attributes["d"]
        shown = re.findall(r"M([\d.]+) \d+V([\d.]+)H([\d.]+)V", path)
        assert len(shown) == len(rows_of_plot), f"{len(shown)} bars, not {len(rows_of_plot)}"
        for bar, (low, high, calls) in zip(shown, rows_of_plot):
            left, right = (frame["x"] + frame["width"] * scale(spans["x"], bound) for bound in (low, high))
            top = frame["y"] + frame["height"] * (1 - scale(spans["y"], calls))
            for number_shown, expected in zip(map(float, bar), (left, top, right)):
                assert abs(number_shown - expected) < 0.2, f"{bar} for {low} to {high}: {calls}"
            count += 1
    print(count)


def runs(path):
    """Where each horizontal run of a path begins and ends, and in which row."""
    x = end = y = 0
    for command, first, second, length in re.findall(r"([Mm])(-?\d+) (\d+)(?:\.5)?h(\d+)", path):
        x, y = (int(first), int(second)) if command == "M" else (end + int(first), y + int(second))
        end = x + int(length)
        yield x, end, y


def cells(page, script):
    """The same of the cells of maps: when each begins and ends, and in how many rows of latency. Prints how many there are."""
    drawn = pictures(page, "time", "map")
    assert len(drawn) == len(blocks(script)), f"{len(drawn)} maps"
    end = float(re.search(r"set xrange \[0:(.*)\]", script).group(1))
    count = 0
    for picture, rows_of_plot in zip(drawn, blocks(script)):
        parts = int(picture.attributes["data-parts"])
        box = next(node for node in picture.find("svg")).attributes["viewbox"].split()
        assert box[:3] == ["0", "0", str(parts)], box
        shown = {}
        for path in next(node for node in picture.find("svg")).find("path"):
            for begin, stop, y in runs(path.attributes["d"]):
                assert 0 <= begin < stop <= parts, f"a run from {begin} to {stop}"
                for part in range(begin, stop):
                    assert (part, y) not in shown, f"two cells at {part}, {y}"
                    shown[part, y] = path.attributes["stroke"]
        top = max(row[3] for row in rows_of_plot)
        octave = rows_of_plot[0][3] / rows_of_plot[0][2]
        expected = set()
        for row in rows_of_plot:
            begin, stop = (round(time / end * parts) for time in row[:2])
            y = round(math.log(top / row[3]) / math.log(octave))
            expected |= {(part, y) for part in range(begin, max(stop, begin + 1))}
            count += 1
        assert set(shown) == expected, f"cells {sorted(set(shown) ^ expected)[:9]} are in one only"
    print(count)


def policy(page):
    """The policy allows this style and this script, and nothing else."""
    meta = next(node for node in page.root.find("meta") if "http-equiv" in node.attributes)
    allowed = meta.attributes["content"]
    for name in "style", "script":
        elements = list(page.root.find(name))
        assert len(elements) == 1, f"{len(elements)} of <{name}>"
        digest = base64.b64encode(hashlib.sha256(elements[0].text().encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in allowed, f"the policy does not know the {name}: {allowed}"
    assert allowed.startswith("default-src 'none'; ") and not re.search(r"unsafe|\*|http", allowed), allowed


with open(sys.argv[2], "rb") as file:
    parsed = Page(file.read().decode("utf-8"))
if not sys.argv[1].startswith("seen"):
    policy(parsed)
if sys.argv[1] == "sentences":
    sentences(parsed, "first")
elif sys.argv[1] == "changes":
    sentences(parsed, "changed", "changes")
elif sys.argv[1] in ("same", "seen", "changed", "seen-changed"):
    with open(sys.argv[3], encoding="utf-8") as file:
        (changed if sys.argv[1].endswith("changed") else same)(parsed, json.load(file))
elif sys.argv[1] in ("bars", "cells"):
    with open(sys.argv[3], encoding="utf-8") as file:
        (bars if sys.argv[1] == "bars" else cells)(parsed, file.read())
elif sys.argv[1] == "bar":
    with open(sys.argv[3], encoding="utf-8") as file:
        bar_of_time(parsed, json.load(file))
elif sys.argv[1] == "explained":
    explained(parsed)
elif sys.argv[1] == "text":
    print(plain(next(parsed.root.find("main")).text()))
elif sys.argv[1] == "about":
    print(plain(next(parsed.root.find("header")).text()))
else:
    sys.exit(f"{sys.argv[1]}?")
