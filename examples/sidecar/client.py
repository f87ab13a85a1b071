"""Asks a sidecar about one call, and runs it only where the answer is `allow`. Nothing but the standard library.

    toolwarden serve --socket /tmp/toolwarden.sock --profile dangerous &
    python3 client.py /tmp/toolwarden.sock
"""

import http.client
import json
import socket
import sys


class Sidecar(http.client.HTTPConnection):
    """A connection to a sidecar's Unix socket."""

    def __init__(self, path, timeout=90):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None):
        """The answer to one request. Anything but an answer is an exception, and so no permission."""
        self.request(method, path, None if body is None else json.dumps(body))
        response = self.getresponse()
        answer = json.loads(response.read())
        if response.status not in (200, 202):
            raise PermissionError(answer["error"]["message"])
        return answer


def verdict(sidecar, call, person):
    """What is to run, or None. `person` is asked where the policy wants a person's word."""
    answer = sidecar.ask("POST", "/v1/invoke", call)
    while answer["verdict"] == "ask":
        word = "allowed-once" if person(answer) else "rejected"
        answer = sidecar.ask("POST", "/v1/settle", {"ticket": answer["ticket"], "answer": word})
    if answer["verdict"] != "allow":
        print("refused:", answer["reason"], file=sys.stderr)
        return None
    return answer["run"]


def terminal(question):
    """Asks on the terminal: `yes` in full, so that no stray key approves."""
    # A JSON text shows control characters and whatever else is not ASCII as escapes.
    print(json.dumps({"why": question["reason"], "target": question["detail"]}))
    return input("Type yes to let this one call run: ").strip() == "yes"


if __name__ == "__main__":
    call = {
        "id": "1",
        "tool": "Delete",
        "arguments": {"path": "build", "recursive": True},
        "route": "direct",
        "attendance": "interactive",
        "workspace": {"root": "/tmp", "flavour": "posix"},
    }
    run = verdict(Sidecar(sys.argv[1]), call, terminal)
    print(json.dumps({"run": run}))
