"""Writes DIR/NAME.pt2 and DIR/NAME.batch.pt for models of the zoo: export_zoo.py DIR NAME ..."""
import pathlib
import sys

import torch

import model_zoo

folder = pathlib.Path(sys.argv[1])
for name in sys.argv[2:]:
    module, inputs = model_zoo.build(name)
    torch.export.save(torch.export.export(module, inputs, strict=False), folder / f"{name}.pt2")
    torch.save(list(inputs), folder / f"{name}.batch.pt")
