#!/usr/bin/env python3
"""A server of objects with as much of S3 as s3fs asks for, in memory: one bucket, of which anybody may do anything. Prints
its port.

    s3_server.py BUCKET
"""

import email.utils
import hashlib
import http.server
import re
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

objects = {}  # key: (bytes, headers)
lock = threading.Lock()


def new_object(body, headers):
    kept = {name: value for name, value in headers.items() if re.match("x-amz-meta-|content-type$", name, re.IGNORECASE)}
    kept["ETag"] = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
    kept["Last-Modified"] = email.utils.formatdate(time.time(), usegmt=True)
    return body, kept


def listing(query):
    """All of it at once, with what has the delimiter behind the prefix as one."""
    prefix = query.get("prefix", [""])[0]
    delimiter = query.get("delimiter", [""])[0]
    rows, common = [], set()
    for key, (body, headers) in sorted(objects.items()):
        end = key.find(delimiter, len(prefix)) if delimiter else -1
        if not key.startswith(prefix):
            continue
        if end >= 0:
            common.add(key[: end + len(delimiter)])
        else:
            rows.append(
                f"<Contents><Key>{escape(key)}</Key><ETag>{escape(headers['ETag'])}</ETag><Size>{len(body)}</Size>"
                "<LastModified>2020-01-01T00:00:00.000Z</LastModified><StorageClass>STANDARD</StorageClass></Contents>"
            )
    rows += [f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>" for key in sorted(common)]
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{sys.argv[1]}</Name><Prefix>{escape(prefix)}</Prefix><MaxKeys>100000</MaxKeys>"
        f"<IsTruncated>false</IsTruncated>{''.join(rows)}</ListBucketResult>"
    ).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=None, length=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def key(self, path=None):
        """Of the bucket's objects; "" is the bucket."""
        path = urllib.parse.unquote(urllib.parse.urlsplit(path or self.path).path).lstrip("/")
        return path.partition("/")[2]

    def do_HEAD(self):
        with lock:
            body, headers = objects.get(self.key(), (None, None))
        if body is None:
            self.answer(404)
        else:
            self.answer(200, headers=headers, length=len(body))

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        with lock:
            body, headers = objects.get(self.key(), (None, None))
            listed = listing(query) if not self.key() else None
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if listed is not None:
            self.answer(200, listed, {"Content-Type": "application/xml"})
        elif body is None:
            self.answer(404)
        elif part:
            first, last = int(part[1]), min(int(part[2]), len(body) - 1)
            self.answer(206, body[first : last + 1], headers | {"Content-Range": f"bytes {first}-{last}/{len(body)}"})
        else:
            self.answer(200, body, headers)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        source = self.headers.get("x-amz-copy-source")
        with lock:
            if source:
                body = objects[self.key(source)][0]
            objects[self.key()] = new_object(body, self.headers)
            etag = objects[self.key()][1]["ETag"]
        copied = f"<CopyObjectResult><ETag>{escape(etag)}</ETag></CopyObjectResult>".encode() if source else b""
        self.answer(200, copied, {"ETag": etag})

    def do_DELETE(self):
        with lock:
            objects.pop(self.key(), None)
        self.answer(204)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
