# SPDX-License-Identifier: Apache-2.0
"""The API server as an administrator sees it, past the proxy: requests, and a record of all that happens."""

import http.client
import json
import ssl
import threading
import time
import urllib.parse


class ApiError(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Server:
    """One administrator; every thread has a connection of its own."""

    def __init__(self, url, authority, certificate, key):
        self.host = urllib.parse.urlsplit(url).netloc
        self.context = ssl.create_default_context(cafile=authority)
        self.context.load_cert_chain(certificate, key)
        self.local = threading.local()

    def connect(self, timeout):
        return http.client.HTTPSConnection(self.host, context=self.context, timeout=timeout)

    def exchange(self, method, path, data, content):
        """(status, seconds after which to ask again, text). One repetition: an idle connection may have been closed."""
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = self.connect(timeout=20)
            try:
                connection.request(method, path, body=data, headers={"Content-Type": content})
                response = connection.getresponse()
                return response.status, float(response.headers.get("Retry-After", 1)), response.read()
            except (http.client.HTTPException, OSError):
                connection.close()
                self.local.connection = None
                if attempt == 2:
                    raise
        raise AssertionError("not reached")

    def text(self, path, method="GET", body=None, content="application/json"):
        """Returns the answer. A server that is not ready yet (429) is asked again."""
        data = None if body is None else json.dumps(body)
        for attempt in range(5):
            status, pause, text = self.exchange(method, path, data, content)
            if status != 429 or attempt == 4:
                break
            time.sleep(pause)
        if status >= 400:
            raise ApiError(status, text.decode(errors="replace")[:500])
        return text.decode(errors="replace")

    def request(self, method, path, body=None, content="application/json"):
        """Returns the decoded answer."""
        text = self.text(path, method, body, content)
        return json.loads(text) if text else {}

    def get(self, path):
        return self.request("GET", path)

    def create(self, path, body):
        return self.request("POST", path, body)

    def delete(self, path, grace=0):
        """Ends an object, at once or as its grace period has it (None); that it is gone already is as good."""
        try:
            self.request("DELETE", path, {"propagationPolicy": "Background"} if grace is None else
                         {"gracePeriodSeconds": grace, "propagationPolicy": "Background"})
        except ApiError as error:
            if error.code != 404:
                raise

    def drop_finalizers(self, path):
        """Of a claim whose opaque parameters were stored with spaces no patch is accepted (422): whoever owns the finalizer
        takes it away when its pods are gone."""
        try:
            self.request("PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")
        except ApiError as error:
            if error.code not in (404, 422):
                raise


def key(item):
    return item["kind"], item["metadata"]["name"]


class Recorder:
    """Watches some collections and keeps every state of every object. resourceVersions are one order over all kinds."""

    def __init__(self, server, collections):
        self.server = server
        self.changed = threading.Condition()
        self.events = []  # (resourceVersion, "set" or "gone", object)
        self.state = {}
        self.failure = None
        self.ended = False
        versions = []
        for path, kind in collections:
            listed = server.get(path)
            for item in listed["items"]:
                item["kind"] = kind
                self.take("ADDED", item)
            versions.append((path, kind, listed["metadata"]["resourceVersion"]))
        for path, kind, version in versions:
            threading.Thread(target=self.follow, args=(path, kind, version), daemon=True).start()

    def take(self, what, item):
        version = int(item["metadata"]["resourceVersion"])
        with self.changed:
            self.events.append((version, "gone" if what == "DELETED" else "set", item))
            if what == "DELETED":
                self.state.pop(key(item), None)
            else:
                self.state[key(item)] = item
            self.changed.notify_all()

    def follow(self, path, kind, version):
        """A watch is resumed where it ended. What cannot be recorded makes the run worthless, so it is told."""
        while not self.ended:
            try:
                connection = self.server.connect(timeout=None)
                connection.request("GET", f"{path}{'&' if '?' in path else '?'}watch=1&allowWatchBookmarks=true"
                                   f"&resourceVersion={version}")
                for line in connection.getresponse():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        self.failure = f"watch of {path}: {event['object'].get('message')}"
                        return
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        event["object"]["kind"] = kind
                        self.take(event["type"], event["object"])
            except (OSError, ValueError, http.client.HTTPException) as error:
                if not self.ended:
                    self.failure = f"watch of {path}: {error}"
                return

    def wait(self, seconds, holds, tick=None):
        """Until holds(state); tick() runs at least twice a second and may raise. Returns whether it came true."""
        deadline = time.monotonic() + seconds
        while True:
            if tick is not None:
                tick()
            if self.failure:
                raise RuntimeError(self.failure)
            with self.changed:
                if holds(self.state):
                    return True
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self.changed.wait(min(left, 0.5))

    def has_gone(self, item):
        """Whether it was there and is not any more; what is not there yet has not gone."""
        uid = item["metadata"]["uid"]
        with self.changed:
            return any(what == "gone" and gone["metadata"]["uid"] == uid for _, what, gone in reversed(self.events))

    def begin(self):
        """Forgets what happened before and returns the state at this moment."""
        with self.changed:
            self.events = []
            return dict(self.state)

    def since_begin(self):
        """Events since then, in the order in which the server wrote them."""
        with self.changed:
            return sorted(self.events, key=lambda event: event[0])

    def snapshot(self):
        with self.changed:
            return dict(self.state)
