"""What the scripts that sweep an ordinary program have in common."""

import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import cli  # noqa: E402

NOTES = "the quick brown fox jumps over the lazy dog and the quick cat\n"


def make_files(folder):
    """The program's files before a sweep, with what a sweep must not lose: an
    inode with a second name, a mode, a time, a file that nobody reads."""
    folder = pathlib.Path(folder)
    (folder / "notes.txt").write_text(NOTES)
    (folder / "summary.txt").write_text("old\n")
    (folder / "notes.log").write_text("older runs\n")
    os.link(folder / "notes.log", folder / "notes.log.link")
    (folder / "notes.log").chmod(0o640)
    os.utime(folder / "summary.txt", (1_000_000_000, 1_000_000_000))
    (folder / "other").write_bytes(bytes(range(256)))


def contents(folder):
    """Everything under a folder that may be told apart."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(folder))] = (
            status.st_ino, status.st_mode, status.st_nlink,
            None if path.is_dir() else status.st_mtime_ns,
            path.read_bytes() if path.is_file() else None)
    return found


def left_processes(marker):
    """Processes with that text in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


class Notes:
    """The program, its folder, and sweeps of it."""

    def __init__(self, options, scratch, program="swept_notes"):
        self.mishap = options.build / "mishap"
        self.program = options.build / "tests/harness" / program
        self.folder = pathlib.Path(scratch) / "work"
        self.out = pathlib.Path(scratch) / "out"
        self.folder.mkdir()
        make_files(self.folder)
        self.before = contents(self.folder)

    def command(self, *options, words=(), out=None, command="sweep"):
        where = () if command != "sweep" else ("--out", out or self.out)
        return ["env", "--default-signal", *map(str, (
            self.mishap, command, *where, *options, "--", self.program,
            *words))]

    def sweep(self, *options, words=(), out=None, command="sweep",
              **variables):
        return subprocess.run(
            self.command(*options, words=words, out=out, command=command),
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, env=cli.environment(**variables), timeout=300,
            check=False)

    def start(self, *options, words=(), **variables):
        return subprocess.Popen(
            self.command(*options, words=words), cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=cli.environment(**variables))

    def cases(self, out=None):
        return cli.read_lines((out or self.out) / "cases.jsonl")

    def is_as_before(self):
        return contents(self.folder) == self.before

    def scratch_left(self, out=None):
        return [path for path in (out or self.out).iterdir()
                if path.name.startswith(".scratch")]


def verdicts(cases):
    return {case["id"]: (case["outcome"], tuple(case["violated"]))
            for case in cases}


INTERRUPT = signal.SIGINT
