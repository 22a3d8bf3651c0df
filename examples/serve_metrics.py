#!/usr/bin/env python3
"""Serves the metrics of an osproffs mount to Prometheus over HTTP:

    serve_metrics.py /mnt/.osprof.metrics [PORT]

Each request opens the file anew, so it shows the profile as of now; nothing else can be asked for. Only this machine is
listened to. Without PORT the system chooses one. The address is printed when the first request can come."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OPENMETRICS = "application/openmetrics-text"


def content_type(accepted):
    """The text is both of these; it is read as what is named."""
    return f"{OPENMETRICS}; version=1.0.0; charset=utf-8" if OPENMETRICS in accepted else "text/plain; version=0.0.4"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/metrics":
            self.send_error(404)
            return
        try:
            with open(self.server.metrics_path, "rb") as metrics:
                body = metrics.read()
        except OSError as error:
            self.send_error(503, str(error))
            return
        self.send_response(200)
        self.send_header("Content-Type", content_type(self.headers.get("Accept", "")))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        """Only errors are told."""


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) == 3 else 0), Handler) as server:
        server.metrics_path = sys.argv[1]
        print(f"http://127.0.0.1:{server.server_port}/metrics", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
