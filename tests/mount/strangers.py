#!/usr/bin/env python3
"""strangers.py SOCKET: connects to the socket of a mount with a hundred threads, again and again, and says nothing, too
little, or things that it may not; and passes it a connection whose end takes as long as it likes. Prints "connected PID" when
each has been there. Ends when it is killed, or after a minute."""
import array
import os
import signal
import socket
import struct
import sys
import threading
import time

THREADS = 100
arrived = threading.Semaphore(0)


def lingering():
    """A TCP connection that still has something to send, which closing it waits for."""
    listener = socket.create_server(("127.0.0.1", 0))
    sender = socket.create_connection(listener.getsockname())
    receiver, _ = listener.accept()
    sender.setblocking(False)
    try:
        while True:
            sender.send(b"x" * 65536)
    except BlockingIOError:
        pass
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1000))
    return sender, receiver


def pass_on(path, sender):
    """The one at the other end of the socket is to close it last: somebody who is there before keeps him busy."""
    silent = socket.socket(socket.AF_UNIX)
    silent.connect(path)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sender.fileno()]))
    try:
        connection.sendmsg([b"file\n\0"], [rights])
    except PermissionError:
        return
    os.close(sender.detach())
    silent.close()
    connection.recv(1000)


def connect(path, says):
    is_new = True
    while True:
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(path)
                if says:
                    connection.send(says)
                connection.settimeout(5)
                connection.recv(1000)
            except OSError:
                time.sleep(0.01)
        if is_new:
            arrived.release()
            is_new = False


def main():
    path = sys.argv[1]
    signal.alarm(60)
    # before 6.16 the receiver of a descriptor drops it itself
    if tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 16):
        sender, receiver = lingering()
        passing = threading.Thread(target=pass_on, args=(path, sender), daemon=True)
        passing.start()
        passing.join(0.2)
    for index in range(THREADS):
        says = (b"", b"", b"", b"re", b"reset\0")[index % 5]
        threading.Thread(target=connect, args=(path, says), daemon=True).start()
    for _ in range(THREADS // 2):
        arrived.acquire()
    print("connected", os.getpid(), flush=True)
    threading.Event().wait()


main()
