#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A gRPC client of our server (server.c) on the C core of gRPC: `client.py FOLDER` plays every check and ends with
`N passed, N failed`. Of Debian's interpreter, whose package python3-grpcio it needs."""

import sys
import time

import grpc

FOUR_MIB = 4 << 20
PATIENCE = 20


def channel(folder, socket, *options):
    return grpc.insecure_channel(f"unix:{folder}/{socket}", options=[("grpc.max_receive_message_length", 2 * FOUR_MIB), *options])


class Wire:
    """Messages are bytes."""

    def __init__(self, c):
        self.c = c

    def call(self, name, request=b"", timeout=PATIENCE):
        return self.c.unary_unary(f"/tangram.test.Wire/{name}")(request, timeout=timeout, wait_for_ready=True)

    def start(self, name, timeout=PATIENCE):
        return self.c.unary_unary(f"/tangram.test.Wire/{name}").future(b"", timeout=timeout)

    def stream(self, count):
        return self.c.unary_stream("/tangram.test.Wire/Stream")(str(count).encode(), timeout=PATIENCE)

    def counters(self):
        return tuple(map(int, self.call("Counters").split()))


def code_of(run):
    try:
        run()
    except grpc.RpcError as error:
        return error.code(), error.details()
    return grpc.StatusCode.OK, ""


def until(done):
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def check_states(states):
    assert states and states[-1] == b"end", "the last state is missing"
    numbers = [int(state) for state in states[:-1]]
    assert numbers == sorted(set(numbers)), "a state that is not newer than the one before"


def unary(wire, folder):
    for size in (0, 1, 100000):
        assert wire.call("Echo", b"x" * size) == b"x" * size


def status_text(wire, folder):
    code, text = code_of(lambda: wire.call("Refuse"))
    assert code == grpc.StatusCode.FAILED_PRECONDITION, code
    assert text == 'no: 100 % \u00fc\n"quoted"', text


def unknown_method(wire, folder):
    assert code_of(lambda: wire.call("Nothing"))[0] == grpc.StatusCode.UNIMPLEMENTED


def server_stream(wire, folder):
    for count in (0, 1, 1000):
        check_states(list(wire.stream(count)))


def slow_reader(wire, folder):
    stream = wire.stream(100000)
    time.sleep(1)
    states = list(stream)
    assert len(states) < 1000, f"{len(states)} states were kept for a client that does not read"
    check_states(states)


def cancel(wire, folder):
    waiting, cancelled = wire.counters()
    call = wire.start("Wait")
    until(lambda: wire.counters()[0] > waiting)
    call.cancel()
    until(lambda: wire.counters()[1] > cancelled)


def deadline(wire, folder):
    _, cancelled = wire.counters()
    assert code_of(lambda: wire.call("Wait", timeout=0.1))[0] == grpc.StatusCode.DEADLINE_EXCEEDED
    until(lambda: wire.counters()[1] > cancelled)


def large_messages(wire, folder):
    text = b"z" * FOUR_MIB
    assert wire.call("Echo", text) == text
    assert code_of(lambda: wire.call("Echo", text + b"z"))[0] == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert code_of(lambda: wire.call("Large", str(FOUR_MIB + 1).encode()))[0] == grpc.StatusCode.RESOURCE_EXHAUSTED


def keepalive(wire, folder):
    options = [("grpc.keepalive_time_ms", 50), ("grpc.keepalive_timeout_ms", 2000), ("grpc.keepalive_permit_without_calls", 1),
               ("grpc.http2.max_pings_without_data", 0), ("grpc.use_local_subchannel_pool", 1)]
    with channel(folder, "test.sock", *options) as c:
        other = Wire(c)
        states = []
        other.call("Echo", b"a")
        c.subscribe(states.append)
        time.sleep(1.5)
        assert other.call("Echo", b"b") == b"b"
        assert grpc.ChannelConnectivity.TRANSIENT_FAILURE not in states, states


def connections(wire, folder):
    for _ in range(200):
        with channel(folder, "test.sock", ("grpc.use_local_subchannel_pool", 1)) as c:
            assert Wire(c).call("Echo", b"hello") == b"hello"
    unary(wire, folder)


def field(number, text):
    return bytes([number << 3 | 2, len(text)]) + text


def prepare(wire, folder):
    """What the kubelet sends, by hand: a batch of one claim {namespace = 1, uid = 2, name = 3}."""
    request = field(1, field(1, b"ns") + field(2, b"uid-gpu-2") + field(3, b"gpu-2"))
    with channel(folder, "plugin/dra.sock") as c:
        for service in ("v1", "v1beta1"):
            for method in ("NodePrepareResources", "NodeUnprepareResources"):
                answer = c.unary_unary(f"/k8s.io.kubelet.pkg.apis.dra.{service}.DRAPlugin/{method}")(request, timeout=PATIENCE)
                assert b"uid-gpu-2" in answer, answer
                assert method.startswith("NodeUn") or b"k8s.gpu.tangram.dev/claim=" in answer, answer


def health(wire, folder):
    with channel(folder, "plugin/dra.sock") as c:
        stream = c.unary_stream("/v1.DRAResourceHealth/NodeWatchResources")(b"", timeout=PATIENCE)
        for _ in range(2):
            assert next(stream).count(b"gpu-") == 8
        stream.cancel()


CHECKS = [unary, status_text, unknown_method, server_stream, slow_reader, cancel, deadline, large_messages, keepalive, connections, prepare, health]


def main():
    folder = sys.argv[1]
    passed = failed = 0
    with channel(folder, "test.sock") as c:
        for check in CHECKS:
            try:
                check(Wire(c), folder)
                passed += 1
            except (AssertionError, grpc.RpcError, ValueError) as error:
                failed += 1
                print(f"FAILED {check.__name__}: {error!r}")
    print(f"grpcio {grpc.__version__}: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
