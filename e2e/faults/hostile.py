# SPDX-License-Identifier: Apache-2.0
"""What a client of the plugin's sockets may do wrong: bytes of HTTP/2 and gRPC, written by hand."""

import socket

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_STREAM, END_HEADERS = 1, 4
PREPARE = "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources"
UNPREPARE = "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources"
HEALTH = "/v1.DRAResourceHealth/NodeWatchResources"
CANCEL = (8).to_bytes(4, "big")
LINGER = 0.02  # seconds that a client waits for an answer before it goes


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def fields(path):
    """A block of HPACK that uses no table."""
    pairs = ((":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
             ("content-type", "application/grpc"), ("te", "trailers"))
    return b"".join(b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in pairs)


def string(number, text):
    return bytes([number << 3 | 2, len(text)]) + text


def claim(number):
    """The request for one claim, which is not there."""
    uid = f"00000000-0000-4000-8000-{number:012}".encode()
    return string(1, string(1, b"faults") + string(2, uid) + string(3, b"nobody"))


def message(body):
    return b"\0" + len(body).to_bytes(4, "big") + body


def call(path, body, stream=1, end=END_STREAM):
    return frame(HEADERS, END_HEADERS, stream, fields(path)) + frame(DATA, end, stream, body)


OPEN = PREFACE + frame(SETTINGS, 0, 0)


def abuses(number):
    """name -> what is sent before the client goes away. number makes its claim one of its own."""
    there = message(claim(number))
    return {
        "gone at once": b"",
        "half a preface": PREFACE[:10],
        "another protocol": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a preface and no more": OPEN,
        "half a frame": OPEN + frame(HEADERS, END_HEADERS, 1, fields(PREPARE))[:25],
        "a frame that is too long": OPEN + b"\xff\xff\xff\0\0\0\0\0\1",
        "fields that cannot be decoded": OPEN + frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff"),
        "a window of nothing": OPEN + frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\0"),
        "no such method": OPEN + call("/nobody/Nothing", there),
        "half a message": OPEN + call(PREPARE, there[:12], end=0),
        "no message": OPEN + call(PREPARE, message(b"\x0a\x7fxx")),
        "a message that is too long": OPEN + call(PREPARE, b"\0\x7f\xff\xff\xff"),
        "no such claim": OPEN + call(PREPARE, there),
        "given up": OPEN + call(PREPARE, there) + frame(RST_STREAM, 0, 1, CANCEL),
        "prepared and unprepared": OPEN + call(PREPARE, there) + call(UNPREPARE, there, stream=3),
        "streams that come and go": OPEN + b"".join(call(PREPARE, there, stream) + frame(RST_STREAM, 0, stream, CANCEL)
                                                    for stream in range(1, 41, 2)),
        "asks for health and goes": OPEN + call(HEALTH, message(b"")),
        "pings": OPEN + 20 * frame(PING, 0, 0, b"12345678"),
    }


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(5)
    connection.connect(path)
    return connection


def ask(path, number, times):
    """Asks for claims that are not there, one after another, as an honest kubelet: each makes the plugin ask the API server."""
    for i in range(times):
        with connect(path) as connection:
            connection.sendall(OPEN + call(PREPARE, message(claim(number * times + i))))
            connection.settimeout(1)
            try:
                while b"grpc-status" not in (answer := connection.recv(65536)) and b"nobody" not in answer:
                    pass
            except OSError:
                pass  # what happens to the request to the API server may take longer


def abuse(path, number):
    """All of them, each on a connection of its own. Returns how many there were."""
    todo = abuses(number)
    for sent in todo.values():
        with connect(path) as connection:
            try:
                connection.sendall(sent)
                connection.settimeout(LINGER)
                connection.recv(65536)
            except OSError:
                pass  # refused, or no answer so soon
    return len(todo)
