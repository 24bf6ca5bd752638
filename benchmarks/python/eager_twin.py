"""Training steps in Python eager, answering as step_server does.

  eager_twin.py [--memory] NAME THREADS                      a model of the zoo, as its authors wrote it
  eager_twin.py [--memory] MODEL.pt2 THREADS BATCH.pt        an exported graph, run in Python

With --memory it answers once, with the most bytes that tensors held so far, by PyTorch's profiler. As beside a loader there is then a data set and
a batch made of it.
"""
import itertools
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile


def load(name, *batch):
    if batch:
        return torch.export.load(name).module(), torch.load(batch[0])
    import model_zoo
    return model_zoo.build(name)


def steps_of(name, batch, separate_batch=False):
    """A function that trains some steps and returns the last loss."""
    module, data = load(name, *batch)
    inputs = [tensor.clone() for tensor in data] if separate_batch else data
    optimizer = torch.optim.SGD((p for p in module.parameters() if p.requires_grad), lr=0.001, fused=True)

    def train(steps, _kept=data):
        for _ in range(steps):
            loss = module(*inputs)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return loss.item()
    return train


def peak_bytes(profiler):
    """The largest sum of what was allocated and freed."""
    reports = sorted((event.start_ns(), event.nbytes()) for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]")
    return max(itertools.accumulate(size for _, size in reports))


def main():
    memory = sys.argv[1] == "--memory"
    name, threads, *batch = sys.argv[1 + memory:]
    torch.set_num_threads(int(threads))
    if memory:
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            loss = steps_of(name, batch, separate_batch=True)(int(input()))
        print(0, loss, peak_bytes(profiler), flush=True)
        return
    train = steps_of(name, batch)
    for line in sys.stdin:
        steps, start = int(line), time.perf_counter()
        loss = train(steps)
        print((time.perf_counter() - start) / steps, loss, 0, flush=True)


main()
