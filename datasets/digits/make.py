#!/usr/bin/env python3
"""Writes digits.csv, byte for byte, from scikit-learn's copy of the UCI digits.

usage: make.py SOURCE [TARGET]

SOURCE is sklearn/datasets/data/digits.csv.gz of Debian's python3-sklearn;
TARGET is digits.csv beside this script unless given. The split of every class
is printed as the table of the data card.

The split is stratified: the rows of a class are put in the order of
SHA-256("SEED:ROW"), ROW counting from 0 in the source. The first 20 % become
test, the next 10 % validation, the rest train. A hash keeps the split the same
in every version of Python, which random.shuffle does not promise.
"""

import collections
import gzip
import hashlib
import pathlib
import sys

SEED = 20240501
SOURCE_SHA256 = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"
PIXELS = 64
SPLITS = ("train", "validation", "test")


def read_rows(source):
    """Returns the source's rows as lists of text, the label last."""
    data = gzip.decompress(source.read_bytes())
    digest = hashlib.sha256(data).hexdigest()
    if digest != SOURCE_SHA256:
        sys.exit(f"{source}: the unpacked SHA-256 is {digest}, expected {SOURCE_SHA256}: "
                 "take digits.csv.gz from scikit-learn (Debian: python3-sklearn).")
    return [line.split(",") for line in data.decode("ascii").splitlines()]


def rank(row):
    return hashlib.sha256(f"{SEED}:{row}".encode("ascii")).digest()


def assign_splits(labels):
    """Returns the split word of every row."""
    by_class = collections.defaultdict(list)
    for row, label in enumerate(labels):
        by_class[label].append(row)
    splits = ["train"] * len(labels)
    for rows in by_class.values():
        rows.sort(key=rank)
        test = round(len(rows) * 0.2)
        validation = round(len(rows) * 0.1)
        for row in rows[:test]:
            splits[row] = "test"
        for row in rows[test:test + validation]:
            splits[row] = "validation"
    return splits


def print_balance(labels, splits):
    counts = collections.Counter(zip(labels, splits))
    print("| class | " + " | ".join(SPLITS) + " | all |")
    print("|---|" + "---|" * (len(SPLITS) + 1))
    for label in sorted(set(labels)):
        row = [counts[label, split] for split in SPLITS]
        print(f"| {label} | " + " | ".join(map(str, row)) + f" | {sum(row)} |")
    totals = [splits.count(split) for split in SPLITS]
    print("| all | " + " | ".join(map(str, totals)) + f" | {sum(totals)} |")


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        sys.exit(__doc__)
    source = pathlib.Path(arguments[0])
    if not source.is_file():
        sys.exit(f"{source}: no such file; unpack python3-sklearn and name its "
                 "sklearn/datasets/data/digits.csv.gz.")
    beside = pathlib.Path(__file__).resolve().with_name("digits.csv")
    target = pathlib.Path(arguments[1]) if len(arguments) == 2 else beside
    rows = read_rows(source)
    labels = [int(row[PIXELS]) for row in rows]
    splits = assign_splits(labels)
    lines = [",".join([f"p{i}" for i in range(PIXELS)] + ["label", "split"])]
    lines += [",".join(row + [split]) for row, split in zip(rows, splits)]
    target.write_bytes(("\n".join(lines) + "\n").encode("ascii"))
    print_balance(labels, splits)


if __name__ == "__main__":
    main(sys.argv[1:])
