"""The quickstart's step in Python PyTorch: same model, data, threads and optimizer as step_server, same protocol.

  quickstart_twin.py DRY_RUN.json THREADS    (the JSON of `flopmark run CONFIG --dry-run`)
"""
import json
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv, d = c["heads"], c["kv_heads"], c["hidden_size"]
        self.size = d // self.heads
        linear = lambda i, o: nn.Linear(i, o, bias=False)
        self.attention_norm, self.ffn_norm = nn.RMSNorm(d, eps=1e-5), nn.RMSNorm(d, eps=1e-5)
        self.wq, self.wk = linear(d, d), linear(d, self.kv * self.size)
        self.wv, self.wo = linear(d, self.kv * self.size), linear(d, d)
        self.w1, self.w2, self.w3 = linear(d, c["ffn_size"]), linear(c["ffn_size"], d), linear(d, c["ffn_size"])

    def forward(self, x, rotations):
        b, t, d = x.shape
        y = self.attention_norm(x)
        turn = lambda z: torch.view_as_real(torch.view_as_complex(z.view(b, t, -1, self.size // 2, 2)) * rotations)
        q, k = (turn(w(y)).flatten(3).transpose(1, 2) for w in (self.wq, self.wk))
        v = self.wv(y).view(b, t, self.kv, self.size).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.kv < self.heads)
        x = x + self.wo(mixed.transpose(1, 2).reshape(b, t, d))
        y = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, c, length):
        super().__init__()
        d, half = c["hidden_size"], c["hidden_size"] // c["heads"] // 2
        self.embedding, self.norm = nn.Embedding(c["vocab_size"], d), nn.RMSNorm(d, eps=1e-5)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["layers"]))
        self.output = nn.Linear(d, c["vocab_size"], bias=False)
        angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("rotations", torch.polar(torch.ones_like(angles), angles).view(1, length, 1, half))

    def forward(self, ids, targets):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.rotations)
        return F.cross_entropy(self.output(self.norm(x)).flatten(0, 1), targets.flatten())


def batches(data):
    text = torch.frombuffer(bytearray(open(data["path"], "rb").read()), dtype=torch.uint8).long()
    length, size = data["sequence_length"], data["batch_size"]
    while True:
        for chosen in torch.randperm((len(text) - 1) // length).split(size):
            if len(chosen) == size:
                rows = torch.stack([text[i * length:(i + 1) * length + 1] for i in chosen.tolist()])
                yield rows[:, :-1].contiguous(), rows[:, 1:].contiguous()


def main():
    config = json.load(open(sys.argv[1]))["config"]
    torch.manual_seed(0)
    torch.set_num_threads(int(sys.argv[2]))
    model = Llama(config["model"], config["data"]["sequence_length"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["train"]["optimizer"]["lr"], weight_decay=0.01, fused=True)
    source = batches(config["data"])
    for line in sys.stdin:
        steps, start = int(line), time.perf_counter()
        for _ in range(steps):
            loss = model(*next(source))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), config["train"]["gradient_clip"])
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        print((time.perf_counter() - start) / steps, loss.item(), 0, flush=True)


main()
