"""The planted programs: how each is run, its files, its marks, and what a sweep
of it left."""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import cli  # noqa: E402

# Debian's, which has LibTorch.
PYTHON = "/usr/bin/python3"
GOOD = ("held", "recovered")
TORCH = ("op/**", "alloc/cpu", "io/**")
# Points that are swept, files that have to be old or new, variables.
PROGRAMS = {
    "ledger": (("alloc/new", "io/**"), ("ledger.state", "report.txt"), {}),
    "image_fit": (TORCH, ("discs.txt",), {}),
    "batches": (TORCH, ("model.pt",), {}),
    "threads": (("io/**",), (), {"OMP_NUM_THREADS": "2"}),
    "train": (TORCH, ("model.pt",), {}),
}


def source_of(program):
    return HERE / ("train.py" if program == "train" else f"{program}.cpp")


def command_of(build, program, *words):
    if program == "train":
        return [PYTHON, source_of(program), *words]
    return [build / "tests/program" / program, *words]


def is_there(build, program):
    if program != "train":
        return command_of(build, program)[0].exists()
    return not subprocess.run([PYTHON, "-c", "import torch"], check=False,
                              capture_output=True).returncode


def marks(program):
    """The line of each `CAUGHT name` comment."""
    found = {}
    for number, line in enumerate(source_of(program).read_text().splitlines(), 1):
        match = re.search(r"(?://|#) CAUGHT (\w+)$", line)
        if match:
            found[match[1]] = number
    return found


def expected(program):
    with open(HERE / "planted.csv", encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines)
                if row["program"] == program]


def make_files(folder):
    """What the programs read, in their working folder."""
    grey = [str((column * 37 + row * 53) % 256)
            for row in range(6) for column in range(8)]
    texts = {
        "image.pgm": "P2 8 6 255\n" + " ".join(grey) + "\n",
        "rows.csv": "".join(f"{i / 4},{i / 2 - 1}\n" for i in range(8)),
        "ledger.conf": "1\n",
        "ledger.state": "5\n",
        **{f"row{i}.txt": f"{i + 1}\n" for i in range(4)},
    }
    for name, text in texts.items():
        (pathlib.Path(folder) / name).write_text(text)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(pathlib.Path(folder).rglob("*"))
            if path.is_file()}


def timed_arguments(doc):
    """Of a script whose figure is a rate."""
    parser = cli.arguments(doc)
    parser.add_argument("--patience", type=float, default=1,
                        help="the machine may be so many times slower")
    parser.add_argument("--whole", action="store_true")
    return parser


class Sweep:
    """A sweep of one program in a folder of its own; that folder afterwards is
    as before."""

    def __init__(self, build, program, words=(), options=(), points=None):
        usual, atomic, variables = PROGRAMS[program]
        self.program = program
        with tempfile.TemporaryDirectory(prefix="mishap-program-") as scratch:
            scratch = pathlib.Path(scratch)
            folder, out = scratch / "work", scratch / "out"
            folder.mkdir()
            make_files(folder)
            before = contents(folder)
            command = [build / "mishap", "sweep", "--out", out]
            for point in points or usual:
                command += ["--points", point]
            for glob in atomic:
                command += ["--atomic", glob]
            command += [*options, "--", *command_of(build, program, *words)]
            self.run = subprocess.run(
                ["env", "--default-signal", *map(str, command)], cwd=folder,
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                env=cli.environment(**variables), check=False)
            self.files_are_as_before = contents(folder) == before
            self.cases = cli.read_lines(out / "cases.jsonl")
            self.records = {record["record_id"]: record
                            for record in cli.records(out)}
            summary = out / "summary.json"
            self.summary = (json.loads(summary.read_text())
                            if summary.exists() else {})

    @property
    def status(self):
        return self.run.returncode

    def told(self):
        return (f"status {self.status}, "
                f"{self.run.stderr[-600:]}{self.run.stdout[-600:]}")

    def bad(self):
        return [case for case in self.cases if case["outcome"] not in GOOD]

    def forked(self):
        match = re.search(r"(\d+) forked, (\d+) run again", self.run.stdout)
        return (int(match[1]), int(match[2])) if match else (0, 0)

    def note(self, case, words):
        """The `FUNCTION in FILE:LINE` of that note of its record."""
        record = self.records.get(case["record_id"], {"notes": []})
        for note in record["notes"]:
            match = re.match(re.escape(words) + r" (.*) in (\S+):(\d+)$", note)
            if match:
                return match[1], match[2], int(match[3])
        return "", "", 0

    def functions(self, case):
        """The functions at the hit, innermost first; those of the main part of
        the program too where the stack was cut before it."""
        record = self.records.get(case["record_id"])
        names = []
        for thread in (record or {}).get("threads") or []:
            for frame in thread["stack"]["frames"]:
                names.append(frame.get("function") or "")
            if thread["stack"]["truncated"]:
                names += [row["where"] for row in expected(self.program)]
        struck = self.note(case, "the fault struck at")[0]
        return [*names, struck]
