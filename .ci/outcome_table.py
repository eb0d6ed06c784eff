#!/usr/bin/env python3
"""Prints entry point × outcome from a sweep's summary.json."""

import json
import sys

COLUMNS = ("hits", "cases", "held", "recovered", "swallowed", "violated",
           "not_fired", "nondeterministic", "crashed", "hung")


def main(path):
    with open(path, encoding="utf-8") as file:
        summary = json.load(file)
    entries = summary["entry_points"]
    columns = [c for c in COLUMNS if all(c in entry for entry in entries)]
    rows = [["entry point", *columns]]
    rows += [[e["name"], *(str(e[c]) for c in columns)] for e in entries]
    rows.append(["all", *(str(sum(e[c] for e in entries)) for c in columns)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells))
    print(f"{summary['seconds']:.1f} s, "
          f"{summary['cases_per_second']:.0f} cases a second")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: outcome_table.py SUMMARY.json")
    main(sys.argv[1])
