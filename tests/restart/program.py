# SPDX-License-Identifier: Apache-2.0
"""The plugin as it is installed, on a node that a test plays: cards of the fake NVML, an API server that knows one Node, its
slices and some claims, and the kubelet's side of the sockets. Needs Debian's python3-grpcio."""

import contextlib
import ctypes
import http.server
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import threading
import time
import urllib.parse

import grpc

DRIVER = "gpu.tangram.dev"
NODE = "node-1"
PATIENCE = 60
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def until(what, done, patience=PATIENCE):
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            raise AssertionError(f"it did not happen: {what}")
        time.sleep(0.002)


# ---- messages (api/kubelet/proto) ----


def varint(n):
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(data):
    at = 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return n

    while at < len(data):
        key = number()
        if key & 7 == 2:
            n = number()
            yield key >> 3, data[at : at + n]
            at += n
        else:
            yield key >> 3, number()


def claims_message(uids):
    return b"".join(field(1, field(1, "ns") + field(2, uid) + field(3, uid)) for uid in uids)


def answers(data, error_field):
    """UID -> error, "" for none."""
    found = {}
    for _, entry in fields(data):
        entry = dict(fields(entry))
        errors = [v for k, v in fields(entry[2]) if k == error_field]
        found[entry[1].decode()] = errors[0].decode() if errors else ""
    return found


# ---- the API server ----


class Api:
    def __init__(self):
        self.claims, self.slices, self.version, self.lock = {}, {}, 10, threading.Lock()
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def answer(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def watch(self):
                """Nothing ever changes but by the plugin, which knows."""
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.close_connection = True
                while not select.select([self.connection], [], [], 0.2)[0]:
                    if api.closed:
                        return

            def do_GET(self):
                path, _, query = self.path.partition("?")
                query = urllib.parse.unquote(query)
                if "watch=1" in query:
                    return self.watch()
                if "/resourceclaims/" in path:
                    claim = api.claims.get(path.rsplit("/", 1)[1])
                    gone = {"kind": "Status", "code": 404, "reason": "NotFound", "message": "no such claim"}
                    return self.answer(200, claim) if claim else self.answer(404, gone)
                items = []
                if path.endswith("/nodes"):
                    items = [{"metadata": {"name": NODE, "uid": "node-uid", "resourceVersion": "5"}, "status": {}}]
                elif path.endswith("/resourceslices") and "!=" not in query:
                    with api.lock:
                        items = list(api.slices.values())
                return self.answer(200, {"metadata": {"resourceVersion": str(api.version)}, "items": items})

            def write(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
                if "/resourceslices" not in self.path or "dryRun" in self.path:
                    return self.answer(201, body)
                with api.lock:
                    api.version += 1
                    meta = body["metadata"]
                    if "name" not in meta:
                        meta["name"] = f"{meta.get('generateName', 'slice-')}{api.version}"
                    meta.setdefault("uid", f"uid-{api.version}")
                    meta["resourceVersion"] = str(api.version)
                    api.slices[meta["name"]] = body
                return self.answer(201 if self.command == "POST" else 200, body)

            do_POST = do_PUT = do_PATCH = write

            def do_DELETE(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with api.lock:
                    api.slices.pop(self.path.partition("?")[0].rsplit("/", 1)[1], None)
                return self.answer(200, {"kind": "Status"})

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A client that was killed."""

        self.closed = False
        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.closed = True
        self.server.shutdown()
        self.server.server_close()

    def allocate(self, uid, devices, config=None, admin=False):
        results = [
            {"request": "gpus", "driver": DRIVER, "pool": NODE, "device": device, **({"adminAccess": True} if admin else {})}
            for device in devices
        ]
        configs = [{"source": "FromClaim", "opaque": {"driver": DRIVER, "parameters": config}}] if config else []
        self.claims[uid] = {
            "metadata": {"name": uid, "namespace": "ns", "uid": uid},
            "status": {
                "allocation": {"devices": {"results": results, "config": configs}},
                "reservedFor": [{"resource": "pods", "name": "p", "uid": "pod"}],
            },
        }

    def devices(self):
        """Of complete pools."""
        with self.lock:
            slices = [s["spec"] for s in self.slices.values()]
        newest = max((s["pool"]["generation"] for s in slices), default=0)
        slices = [s for s in slices if s["pool"]["generation"] == newest]
        if not slices or len(slices) != slices[0]["pool"]["resourceSliceCount"]:
            return []
        return [d["name"] for s in slices for d in s.get("devices", [])]


# ---- the node ----


class Node:
    """A folder with everything that outlives the plugin."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.path = lambda name: os.path.join(folder, name)
        self.library = os.path.join(build, "tests/fake-nvml/libnvidia-ml.so.1")
        self.api = Api()
        os.makedirs(folder, exist_ok=True)
        self.write("boot_id", "boot-1\n")
        self.write(
            "kubeconfig",
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
            f'clusters: [{{name: c, cluster: {{server: "{self.api.url}"}}}}]\n'
            "users: [{name: u, user: {}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n",
        )
        self.env = {
            "FAKE_NVML_SCENARIO": self.path("scenario"),
            "FAKE_NVML_STATE": self.path("cards"),
            "FAKE_NVML_ROOT": self.path("root"),
        }
        os.environ.update(self.env)
        self.nvml = None
        with open(os.path.join(ROOT, "driver/provider/nvml/abi.h")) as f:
            self.symbols = len(re.findall(r"^    X\(", f.read(), re.M))

    def close(self):
        self.api.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def play(self, scenario):
        temporary = self.path(".scenario")
        with open(temporary, "w") as f:
            f.write(scenario)
        os.rename(temporary, self.path("scenario"))

    def wipe_cards(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path("cards"))

    def reset(self, scenario):
        """Empty disks and cards, and nothing in the API server."""
        for name in (*self.KEPT, "saved", "registry"):
            shutil.rmtree(self.path(name), ignore_errors=True)
        self.write("boot_id", "boot-1\n")
        self.api.claims.clear()
        self.api.slices.clear()
        self.wipe_cards()
        self.play(scenario)

    def reboot(self):
        """What is on the cards goes, and what is not on a disk."""
        self.wipe_cards()
        shutil.rmtree(self.path("cdi"), ignore_errors=True)
        shutil.rmtree(self.path("root"), ignore_errors=True)
        self.write("boot_id", f"boot-{time.monotonic_ns()}\n")

    KEPT = ("lib", "cdi", "root")

    def save(self):
        os.makedirs(self.path("saved"))
        for name in self.KEPT:
            if os.path.isdir(self.path(name)):
                shutil.copytree(
                    self.path(name), self.path(f"saved/{name}"), symlinks=True, ignore=shutil.ignore_patterns("*.sock", "*.lock")
                )
        shutil.copy(self.path("cards"), self.path("saved/cards"))

    def restore(self):
        for name in self.KEPT:
            shutil.rmtree(self.path(name), ignore_errors=True)
            if os.path.isdir(self.path(f"saved/{name}")):
                shutil.copytree(self.path(f"saved/{name}"), self.path(name), symlinks=True)
        self.wipe_cards()
        shutil.copy(self.path("saved/cards"), self.path("cards"))
        self.write("boot_id", "boot-1\n")

    def calls(self):
        """Of NVML, since the cards' memory began."""
        with open(self.path("cards"), "rb") as f:
            f.seek(4 + 4 * self.symbols)
            return struct.unpack("I", f.read(4))[0]

    def driver(self):
        if self.nvml is None:
            self.nvml = ctypes.CDLL(self.library)
            assert self.nvml.nvmlInit_v2() == 0
        return self.nvml

    def card(self, index):
        handle = ctypes.c_void_p()
        assert self.driver().nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == 0
        return handle

    def partition(self, index, profile, starts, size):
        """As an administrator's tool does at boot."""
        card = self.card(index)
        for start in starts:
            place, instance, compute = (ctypes.c_uint * 2)(start, size), ctypes.c_void_p(), ctypes.c_void_p()
            assert self.nvml.nvmlDeviceCreateGpuInstanceWithPlacement(card, profile, place, ctypes.byref(instance)) == 0
            assert self.nvml.nvmlGpuInstanceCreateComputeInstance(instance, 0, ctypes.byref(compute)) == 0

    def compute_mode(self, index):
        mode = ctypes.c_uint()
        card = self.card(index)
        assert self.nvml.nvmlDeviceGetComputeMode(card, ctypes.byref(mode)) == 0
        return mode.value

    def instances(self):
        capabilities = self.path("root/proc/driver/nvidia/capabilities")
        return sum(d.startswith("gi") for _, folders, _ in os.walk(capabilities) for d in folders)

    def files(self):
        """What the plugin has on disks."""
        return [os.path.join(d, f) for name in ("lib", "cdi", "registry") for d, _, files in os.walk(self.path(name)) for f in files]

    def documents(self):
        found = {}
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self.path("cdi")):
                with open(os.path.join(self.path("cdi"), name)) as f:
                    found[name.removeprefix(f"k8s.{DRIVER}-claim_").removesuffix(".json")] = f.read()
        return found


# ---- the plugin ----


class Plugin:
    def __init__(self, node, options=(), dynamic_mig="", kill_at_step=0, log_calls=False, steps=True, patience=PATIENCE):
        """Starts it; registered() plays the kubelet until it has."""
        self.node = node
        env = {**os.environ, **node.env}
        if steps:
            with open(node.path("steps"), "wb") as f:
                f.write(struct.pack("II", 0, kill_at_step))
            env |= {"RESTART_STEPS": node.path("steps"), "LD_PRELOAD": os.path.join(node.build, "tests/restart_steps.so")}
        if log_calls:
            env["FAKE_NVML_LOG"] = node.path("calls")
            node.write("calls", "")
        program = os.path.join(node.build, "bin/tangram-kubelet-plugin")
        self.began = time.monotonic()
        with open(node.path("log"), "ab") as log:
            self.process = subprocess.Popen(
                [
                    program, "--node-name", NODE, "--kubeconfig", node.path("kubeconfig"), "--provider", "nvml",
                    "--nvml-library", node.library, "--system-root", node.path("root"), "--dynamic-mig", dynamic_mig,
                    "--plugin-dir", node.path("lib"), "--registry-dir", node.path("registry"), "--cdi-dir", node.path("cdi"),
                    "--boot-id-file", node.path("boot_id"), *options,
                ],
                env=env, stdout=log, stderr=log,
            )  # fmt: skip
        self.patience = patience

    def channel(self, path):
        options = [("grpc.use_local_subchannel_pool", 1)]
        options += [(f"grpc.{which}_reconnect_backoff_ms", 5) for which in ("initial", "min", "max")]
        return grpc.insecure_channel(f"unix:{path}", options=options)

    def died(self):
        return self.process.poll() is not None

    def call(self, channel, method, message):
        """None: it died."""
        future = channel.unary_unary(method).future(message, timeout=self.patience, wait_for_ready=True)
        answered = threading.Event()
        future.add_done_callback(lambda _: answered.set())
        until(method, lambda: answered.wait(0.01) or self.died())
        if future.done() and future.code() == grpc.StatusCode.OK:
            return future.result()
        until("the end of the plugin", self.died, 5)
        return None

    def registered(self):
        """As the kubelet does when the socket appears. False: the plugin died before."""
        path = self.node.path(f"registry/{DRIVER}-reg.sock")
        with self.channel(path) as channel:
            if self.call(channel, "/pluginregistration.Registration/GetInfo", b"") is None:
                return False
            self.took = time.monotonic() - self.began
            if self.call(channel, "/pluginregistration.Registration/NotifyRegistrationStatus", b"\x08\x01") is None:
                return False
        self.service = self.channel(self.node.path("lib/dra.sock"))
        return True

    def ask(self, what, uids, error_field):
        data = self.call(self.service, f"/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/{what}", claims_message(uids))
        return None if data is None else answers(data, error_field)

    def begin_prepare(self, uid):
        """A call that nobody waits for."""
        method = self.service.unary_unary("/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources")
        return method.future(claims_message([uid]), timeout=self.patience)

    def prepare(self, *uids):
        """UID -> error; None: it died."""
        return self.ask("NodePrepareResources", uids, 2)

    def unprepare(self, *uids):
        return self.ask("NodeUnprepareResources", uids, 1)

    def steps(self):
        with open(self.node.path("steps"), "rb") as f:
            return struct.unpack("II", f.read(8))[0]

    def end(self, number=signal.SIGKILL):
        """Its exit status."""
        if hasattr(self, "service"):
            self.service.close()
        if not self.died():
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def memory(self, name):
        """KiB of /proc/PID/smaps_rollup."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as f:
            return int(re.search(rf"^{name}: +(\d+) kB", f.read(), re.M).group(1))
