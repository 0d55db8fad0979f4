# The first container of a trial that needs services: it holds the network that all of them share, which has nothing but
# a loopback, carries connections from the ports that tests know to those that services listen at, and tells on which of
# them somebody answers. It runs on whatever Python (3.6 and later) the task has, and nothing of a model ever runs in it.
#
# Its one argument is JSON. `carry`: each `[from, to]`; such an end is `[address, port]` of the loopback, or the path of
# a Unix socket that leads to the loopback of a service with a network of its own. `ask`: by service, its ports there.
# On standard input, each line asks once; the answer is a line of JSON: the services that answer at one of their ports,
# and what could not be carried. When the host goes away, standard input ends, and so does this.
import json
import os
import socket
import sys


def listen(end):
    if isinstance(end, list):
        server = socket.socket(socket.AF_INET6 if ":" in end[0] else socket.AF_INET)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((end[0], end[1]))
    else:
        server = socket.socket(socket.AF_UNIX)
        server.bind(end)
        os.chmod(end, 0o666)
    server.listen(128)
    return server


def answers(port):
    probe = socket.socket()
    probe.settimeout(1)
    try:
        return probe.connect_ex(("127.0.0.1", port)) == 0
    except OSError:
        return False
    finally:
        probe.close()


def main(request):
    trouble = []
    for near, far in request["carry"]:
        try:
            start(serve, listen(near), far)
        except OSError as error:
            trouble.append("%s: %s" % (near, error))
    ready = []
    for _ in sys.stdin:
        for name, ports in request["ask"].items():
            if name not in ready and any(answers(port) for port in ports):
                ready.append(name)
        sys.stdout.write(json.dumps({"ready": ready, "trouble": trouble}) + "\n")
        sys.stdout.flush()


main(json.loads(sys.argv[1]))
