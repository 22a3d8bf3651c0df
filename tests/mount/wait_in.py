#!/usr/bin/env python3
"""wait_in.py NAME[=FILE]...: a process each, that waits in the kernel in one way. For the test of causes.

Prints "NAME PID" of each, and kills them at SIGTERM, or when its parent ends.
What a process waits for is prepared by itself: a pipe that is full, a port at which nobody accepts.
"""
import ctypes
import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
PAGE = 4096
PR_SET_PDEATHSIG = 1
IPC_RMID = 0
system_v = {}  # message queues and semaphores: they stay when processes end


def fill(fd):
    """Until it is full; then a write to it waits."""
    os.set_blocking(fd, False)
    for size in (PAGE, 1):
        try:
            while True:
                os.write(fd, bytes(size))
        except BlockingIOError:
            pass
    os.set_blocking(fd, True)


def tcp_pair():
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    return client, listener.accept()[0]


def overfill_queue(listener, connect):
    """A queue of no length takes one connection, or two. The next one waits for ever."""
    listener.listen(0)
    return [connect() for _ in range(3)]


# ---- Held up


def full_pipe(_):
    _reader, writer = os.pipe()
    fill(writer)
    os.write(writer, b"x")


def full_pipe_splice(_):
    reader, writer = os.pipe()
    _second_reader, second = os.pipe()
    fill(second)
    os.write(writer, b"x")
    os.splice(reader, second, 1)


def full_unix(_):
    ours, _theirs = socket.socketpair()
    fill(ours.fileno())
    ours.send(b"x")


def full_unix_datagrams(_):
    ours, _theirs = socket.socketpair(type=socket.SOCK_DGRAM)
    fill(ours.fileno())
    ours.send(b"x")


def full_tcp(_):
    ours, _theirs = tcp_pair()
    fill(ours.fileno())
    ours.send(bytes(1 << 24))


def connect_tcp(_):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    overfill_queue(listener, lambda: socket.create_connection(listener.getsockname()))


def connect_unix(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)

    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        return client

    overfill_queue(listener, connect)


def full_terminal(_):
    _master, terminal = os.openpty()
    fill(terminal)
    os.write(terminal, bytes(PAGE))


def fcntl_lock(path):
    reader, writer = os.pipe()
    start("fcntl_holder", path, writer)
    os.read(reader, 1)
    fcntl.lockf(open(path, "r+"), fcntl.LOCK_EX)


def fcntl_holder(path, writer):
    with open(path, "r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        os.write(writer, b"x")
        signal.pause()


def message_queue_full(_):
    queue = system_v["full"]
    message = ctypes.create_string_buffer(struct.pack("l", 1) + bytes(4000))
    while libc.msgsnd(queue, message, 4000, 0o4000) == 0:
        pass
    libc.msgsnd(queue, message, 4000, 0)


def mapped_page(path):
    """The program itself is in memory; the page is asked for when somebody says so."""
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    signal.sigwait({signal.SIGUSR1})
    memory[PAGE * 100]


def position(path):
    fd = os.open(path, os.O_RDONLY)
    threading.Thread(target=os.read, args=(fd, PAGE)).start()
    time.sleep(0.1)
    os.read(fd, 1)


def spawn(path):
    os.posix_spawn(path, [path], {})


def touch_memory(_):
    """Each time that somebody says so."""
    size = 64 << 20
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    while signal.sigwait({signal.SIGUSR1}):
        for at in range(0, size, PAGE):
            memory[at] = 1


# ---- Work


def epoll(_):
    select.epoll().poll()


def poll(_):
    select.poll().poll()


def select_call(_):
    select.select([], [], [])


def sleep(_):
    time.sleep(1000)


def pause(_):
    signal.pause()


def sigwait(_):
    signal.sigwait({signal.SIGUSR1})


def wait(_):
    os.waitpid(start("pause", None), 0)


def empty_pipe(_):
    reader, _writer = os.pipe()
    os.read(reader, 1)


def fifo(path):
    os.mkfifo(path)
    os.open(path, os.O_RDONLY)


def empty_unix(_):
    ours, _theirs = socket.socketpair()
    ours.recv(1)


def empty_unix_datagrams(_):
    ours, _theirs = socket.socketpair(type=socket.SOCK_DGRAM)
    ours.recv(1)


def empty_tcp(_):
    ours, _theirs = tcp_pair()
    ours.recv(1)


def empty_udp(_):
    ours = socket.socket(type=socket.SOCK_DGRAM)
    ours.bind(("127.0.0.1", 0))
    ours.recv(1)


def netlink(_):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).recv(1)


def accept(_):
    socket.create_server(("127.0.0.1", 0)).accept()


def accept_unix(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    listener.accept()


def terminal(_):
    _master, terminal = os.openpty()
    os.read(terminal, 1)


def futex(_):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def semaphore(_):
    libc.semop(system_v["semaphores"], struct.pack("Hhh", 0, -1, 0), 1)


def message_queue(_):
    libc.msgrcv(system_v["empty"], ctypes.create_string_buffer(100), 90, 0, 0)


def posix_queue(_):
    name = f"/wait_in-{os.getpid()}".encode()
    queue = libc.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)
    libc.mq_unlink(name)
    libc.mq_receive(queue, ctypes.create_string_buffer(8192), 8192, None)


def inotify(_):
    os.read(libc.inotify_init(), 100)


def eventfd(_):
    os.read(libc.eventfd(0, 0), 8)


def signalfd(_):
    os.read(libc.signalfd(-1, bytes(128), 0), 128)


def timerfd(_):
    fd = libc.timerfd_create(1, 0)
    libc.timerfd_settime(fd, 0, struct.pack("qqqq", 0, 0, 1000, 0), None)
    os.read(fd, 8)


def aio(_):
    context = ctypes.c_ulong(0)
    libc.syscall(206, 8, ctypes.byref(context))
    libc.syscall(208, context, 1, 1, ctypes.create_string_buffer(64), None)


def io_uring(_):
    fd = libc.syscall(425, 4, ctypes.create_string_buffer(120))
    libc.syscall(426, fd, 0, 1, 1, None, 0)


def traced(_):
    libc.ptrace(0, 0, None, None)
    os.kill(os.getpid(), signal.SIGSTOP)


def stopped(_):
    os.kill(os.getpid(), signal.SIGSTOP)


def start(name, path, *more):
    child = os.fork()
    if child != 0:
        return child
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    globals()[name](path, *more)
    os._exit(1)


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    system_v.update(empty=libc.msgget(0, 0o600), full=libc.msgget(0, 0o600), semaphores=libc.semget(0, 1, 0o600))
    children = []
    for argument in sys.argv[1:]:
        name, _, path = argument.partition("=")
        children.append(start(name, path))
        print(name, children[-1], flush=True)
    signal.sigwait({signal.SIGTERM})
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    libc.msgctl(system_v["empty"], IPC_RMID, None)
    libc.msgctl(system_v["full"], IPC_RMID, None)
    libc.semctl(system_v["semaphores"], 0, IPC_RMID)


main()
