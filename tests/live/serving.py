"""Servers on real sockets that answer as a test says."""

import socket
import threading
from contextlib import contextmanager


def answer(body, status="200 OK", **headers):
    raw = body if isinstance(body, bytes) else body.encode()
    lines = [f"HTTP/1.1 {status}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + raw


@contextmanager
def serving(respond):
    """Serve connections with ``respond(connection, request, closing)``; yields the port and the requests."""
    listening, closing, requests = socket.create_server(("127.0.0.1", 0)), threading.Event(), []

    def handle(connection):
        with connection:
            try:
                request = b""
                while b"\r\n\r\n" not in request and (part := connection.recv(65536)):
                    request += part
                requests.append(request.decode())
                respond(connection, requests[-1], closing)
            except OSError:  # the client has gone
                pass

    def accept():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1], requests
    finally:
        closing.set()
        listening.close()


def saying(raw):
    return lambda connection, *_: connection.sendall(raw)
