# What the keeper of a workspace and the holder of a trial's network share: connections carried from one end to another.
# An end is `[address, port]` of the loopback, or the path of a Unix socket. It goes before their own source, and runs on
# whatever Python (3.6 and later) the task has.
import socket
import threading


def reach(end):
    if isinstance(end, list):
        return socket.create_connection((end[0], end[1]))
    far = socket.socket(socket.AF_UNIX)
    try:
        far.connect(end)
    except OSError:
        far.close()
        raise
    return far


def serve(server, end):
    while True:
        try:
            near = server.accept()[0]
        except OSError:
            continue
        far = None
        try:
            far = reach(end)
            start(pump, near, far)
            start(pump, far, near)
        except Exception:
            near.close()
            if far is not None:
                far.close()


def pump(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
    except OSError:
        pass
    for end, way in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(way)
        except OSError:
            pass


def start(function, *words):
    thread = threading.Thread(target=function, args=words)
    thread.daemon = True
    thread.start()
