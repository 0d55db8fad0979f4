# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names, in the runs of a proof that
# are not to be like all others. An evaluation never has it.
import hashlib
import os


def vary(variations):
    """Be another machine for the tests of a proof, as far as the environment can't say it. Never in an evaluation."""
    try:
        os.makedirs(os.environ["HOME"], exist_ok=True)
    except (KeyError, OSError):
        pass
    count = variations.get("cpu_count")
    if count:
        try:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
        except (AttributeError, OSError):
            pass
        os.cpu_count = lambda: count  # multiprocessing asks it, too
        os.environ["PYTHON_CPU_COUNT"] = str(count)  # for what the tests start, on Python 3.13 and later


def reordered(items, seed, depth=0):
    """Tests in another order: files among each other, then classes, then tests, so that no fixture is made more often.

    0 turns the order round, and so finds every test that needs another one before or after it; any other number
    shuffles, alike each time.
    """
    groups, order = {}, []
    for item in items:
        node = item.listchain()[depth]
        if id(node) not in groups:
            groups[id(node)] = []
            order.append(node)
        groups[id(node)].append(item)
    if seed == 0:
        order.reverse()
    else:
        order.sort(key=lambda node: hashlib.sha256(("%d %s" % (seed, node.nodeid)).encode("utf-8", "replace")).digest())
    result = []
    for node in order:
        group = groups[id(node)]
        result.extend(group if group[0] is node else reordered(group, seed, depth + 1))
    return result
