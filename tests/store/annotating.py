"""What other processes do while a test looks on."""

import time
from pathlib import Path

from specdash.store import Store


def say_fifty_things(root, id, who, go):
    store = Store(Path(root))
    print("ready", flush=True)
    while not Path(go).exists():
        time.sleep(0.0005)
    for n in range(50):
        store.annotate(id, title=f"{who} {n}", notes=f"{who} {n} " * 500, config={"one": {f"{who}{n}": n}})


def annotate_for_ever(root, id):
    store, n = Store(Path(root)), 0
    while True:
        n += 1
        store.annotate(id, title=f"{n}", notes=f"{n} " * 2000, tags=[f"{n}"])
        print(n, flush=True)
