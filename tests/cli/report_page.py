"""What a report says, for a test: report_page.py WHAT PAGE [JSON], see the functions below. Reads HTML as browsers do.
"seen": the same as "same", of a page as a browser has it."""

import base64
import hashlib
import html.parser
import json
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


def sentences(page):
    """Those of the first section, one a line."""
    for node in page.section("first").find("p"):
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
if sys.argv[1] != "seen":
    policy(parsed)
if sys.argv[1] == "sentences":
    sentences(parsed)
elif sys.argv[1] in ("same", "seen"):
    with open(sys.argv[3], encoding="utf-8") as file:
        same(parsed, json.load(file))
elif sys.argv[1] == "text":
    print(plain(next(parsed.root.find("main")).text()))
else:
    sys.exit(f"{sys.argv[1]}?")
