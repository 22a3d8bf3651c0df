"""Clients of a server that behave badly, for some seconds: slow_clients.py KIND COUNT SECONDS HOST PORT

  trickle  each sends a request of which a byte comes each second, and never ends
  idle     each says nothing at all
  hasty    each asks again as soon as it has its answer

Who is sent away comes again at once. Prints "ready" when all have connected once, and at the end how often they came."""

import selectors
import socket
import sys
import time

kind, count, seconds, host, port = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], int(sys.argv[5])
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
came = 0
selector = selectors.DefaultSelector()


def come():
    global came
    client = socket.socket()
    client.settimeout(5)
    client.connect((host, port))
    client.setblocking(False)
    came += 1
    if kind == "trickle":
        client.send(REQUEST + b"X: ")
    elif kind != "idle":
        client.send(REQUEST + b"\r\n")
    selector.register(client, selectors.EVENT_READ)
    clients.add(client)


def leave(client):
    selector.unregister(client)
    clients.discard(client)
    client.close()


def hear(client):
    try:
        if client.recv(65536):
            return
    except BlockingIOError:
        return
    except OSError:
        pass
    leave(client)


def trickle():
    for client in list(clients):
        try:
            client.send(b"x")
        except OSError:
            leave(client)


clients = set()
end = time.monotonic() + seconds
while len(clients) < count:
    come()
print("ready", flush=True)
next_byte = time.monotonic() + 1
while time.monotonic() < end:
    for key, _ in selector.select(0.05):
        hear(key.fileobj)
    if kind == "trickle" and time.monotonic() >= next_byte:
        next_byte += 1
        trickle()
    while len(clients) < count and time.monotonic() < end:
        try:
            come()
        except OSError:
            break
print(came, flush=True)
