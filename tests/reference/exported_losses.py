"""Losses of the first five SGD steps of ../shared/cases/models/*.pt2 in Python: exported_losses.json, which a test compares with.

  exported_losses.py MODELS_FOLDER > exported_losses.json

Inputs are the same numbers in both: value i of step s is a function of i + 1000 s only.
"""
import json
import math
import pathlib
import sys

import torch

STEPS, LEARNING_RATE = 5, 0.01


def values(spec, step):
    place = torch.arange(math.prod(spec["shape"]), dtype=torch.int64) + 1000 * step
    if "high" in spec:
        return ((place * 7919) % spec["high"]).reshape(spec["shape"])
    return (((place * 7919) % 2048 - 1024).to(torch.float32) / 512).reshape(spec["shape"])


def losses(path, inputs):
    model = torch.export.load(path).module()
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE)
    found = []
    for step in range(STEPS):
        loss = model(*[values(spec, step) for spec in inputs])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.item())
    return found


def main():
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1])
    expected = json.loads((folder / "expected.json").read_text())["models"]
    models = {name: losses(folder / f"{name}.pt2", model["inputs"]) for name, model in expected.items()}
    print(json.dumps({"torch": torch.__version__, "learning_rate": LEARNING_RATE, "losses": models}, indent=1))


main()
