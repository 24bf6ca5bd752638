"""Two programs that run training steps on request, taking turns: pairs of processes, the ratio of their step times with its limits."""
import contextlib
import fcntl
import itertools
import math
import os
import random
import statistics
import subprocess
import time


class Runner:
    """A step server: gets a number of steps, answers `step_s loss memory_bytes` (see step_server.cpp)."""

    def __init__(self, command, env):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def run(self, steps):
        print(steps, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{' '.join(map(str, self.command))}: ended without an answer")
        step_s, self.loss, self.memory_bytes = map(float, answer.split())
        return step_s

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def machine_turn():
    """Holds the file that FLOPMARK_LOCK names, as flopmark itself does while it measures."""
    path = os.environ.get("FLOPMARK_LOCK")
    if not path:
        yield
        return
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    time.sleep(0.1)  # longer than a waiting flopmark takes to look again


def environment(threads, **more):
    """Of a program that runs in our turn of the machine: not to wait for one of its own; the one that waits must not spin."""
    inherited = {key: value for key, value in os.environ.items() if key != "FLOPMARK_LOCK"}
    return dict(inherited, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive", **more)


def pair(start_each, warmup, turns, turn_s):
    """Both, started afresh in random order: of each its mean step over the turns, in s, and the loss of its first step."""
    names = random.sample(list(start_each), len(start_each))
    runners = {name: start_each[name]() for name in names}
    first_loss = {}
    for name in names:
        runners[name].run(1)
        first_loss[name] = runners[name].loss
        runners[name].run(warmup)
    slowest = max(runner.run(2) for runner in runners.values())
    steps = max(1, round(turn_s / slowest))
    times = {name: [] for name in names}
    for _ in range(turns):
        for name in random.sample(names, len(names)):
            times[name].append(runners[name].run(steps))
    for runner in runners.values():
        runner.close()
    return {name: statistics.fmean(times[name]) for name in names}, first_loss


def signed_rank_counts(n):
    """How many of the 2^n signs give each sum of positive ranks."""
    counts = [1]
    for rank in range(1, n + 1):
        longer = counts + [0] * rank
        for total, count in enumerate(counts):
            longer[total + rank] += count
        counts = longer
    return counts


def limits(ratios, level=0.05):
    """Hodges-Lehmann estimate of the ratio and its exact signed-rank limits, two-sided (Hollander and Wolfe, section 3.3)."""
    logs = [math.log(ratio) for ratio in ratios]
    means = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(logs, 2))
    counts, tail, cut = signed_rank_counts(len(logs)), 0, 0
    while (tail + counts[cut]) / 2 ** len(logs) <= level / 2:
        tail, cut = tail + counts[cut], cut + 1
    if cut == 0:
        raise SystemExit(f"{len(logs)} pairs are too few for limits")
    return math.exp(statistics.median(means)), math.exp(means[cut - 1]), math.exp(means[-cut])
