"""Exports a model with its loss for `flopmark run mlp.pt2`: python3 examples/export_model.py mlp.pt2 (torch 2.8 or newer)."""
import sys

import torch
from torch import nn


class WithLoss(nn.Module):
    """What is measured is forward and backward of the loss, so the loss is part of what is exported."""

    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))  # your model

    def forward(self, x, label):
        return nn.functional.cross_entropy(self.model(x), label)


torch.manual_seed(0)
# The batch you train with: its sizes are part of the graph. Whole numbers are drawn from 0 to the largest one given here.
inputs = (torch.randn(16, 32), torch.arange(16) % 10)
program = torch.export.export(WithLoss().train(), inputs)  # in train mode, and without run_decompositions
torch.export.save(program, sys.argv[1])
