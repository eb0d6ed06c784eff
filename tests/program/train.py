"""Fits a line and checkpoints each epoch. A batch that fails is skipped and the
checkpoint is written in place; `--careful` ends the run instead, and replaces
the checkpoint. `# CAUGHT name` marks the line at which a fault disappears."""

import io
import os
import sys

import torch

CAREFUL = "--careful" in sys.argv


def read_rows(path):
    with open(path, encoding="utf-8") as lines:
        rows = [tuple(map(float, line.split(","))) for line in lines]
    return torch.tensor([x for x, _ in rows]).view(-1, 1), torch.tensor(
        [y for _, y in rows]).view(-1, 1)


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()


def save(model, path):
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    if not CAREFUL:
        with open(path, "wb") as file:
            file.write(buffer.getvalue())
        return
    try:
        with open(path + ".tmp", "wb") as file:
            file.write(buffer.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".tmp", path)
    except BaseException:
        if os.path.exists(path + ".tmp"):
            os.unlink(path + ".tmp")
        raise


def train():
    torch.manual_seed(1)
    x, y = read_rows("rows.csv")
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(2):
        for first in range(0, len(x), 4):
            try:
                step(model, optimizer, x[first:first + 4], y[first:first + 4])
            except RuntimeError as error:  # CAUGHT batch
                if CAREFUL:
                    raise
                print("skipping", error, file=sys.stderr)
                continue
        save(model, "model.pt")


if __name__ == "__main__":
    train()
