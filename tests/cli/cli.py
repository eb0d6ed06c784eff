"""What the scripts here have in common: where the programs are, how they are
run, what they left."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments(doc):
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build",
                        type=lambda path: pathlib.Path(path).resolve(),
                        help="the build folder (%(default)s)")
    return parser


def environment(**changes):
    """This environment without what would change a command; None removes."""
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("MISHAP_", "GITHUB_"))}
    for name, value in changes.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = str(value)
    return variables


def start(words, **options):
    """A child whose signals are at their defaults, whatever ours are."""
    return subprocess.Popen(["env", "--default-signal", *map(str, words)],
                            stdin=options.pop("stdin", subprocess.DEVNULL),
                            text=options.pop("text", True), **options)


def run(words, stdin=None, cwd=None, **variables):
    return subprocess.run(["env", "--default-signal", *map(str, words)],
                          input=stdin if stdin is not None else "",
                          capture_output=True, text=True, cwd=cwd,
                          env=environment(**variables), timeout=120)


def records(folder):
    return read_lines(pathlib.Path(folder) / "records.jsonl")


def read_lines(path):
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def scratch():
    return tempfile.TemporaryDirectory(prefix="mishap-cli-")


def status_of(number):
    """The exit status that a guarded program has after that signal."""
    return 128 + number


SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Checks:
    """Counts what was expected and tells what was not found."""

    def __init__(self):
        self.done = 0
        self.failed = 0

    def expect(self, condition, text):
        self.done += 1
        if not condition:
            self.failed += 1
            print(f"FAILED {text}")
        return condition

    def finish(self, figure):
        """Prints the figure as the last line and ends the script."""
        print(figure)
        sys.exit(1 if self.failed or not self.done else 0)
