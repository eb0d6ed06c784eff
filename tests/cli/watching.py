"""What the scripts that run programs under `mishap watch` have in common."""

import json
import pathlib
import signal
import struct
import subprocess
import time

import cli


def number_of(name):
    return getattr(signal, "SIG" + name)


def rows(folder):
    path = pathlib.Path(folder) / "runs.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


class Watch:
    def __init__(self, options):
        self.mishap = options.build / "mishap"
        self.program = options.build / "tests/cli/watched"
        self.guarded = options.build / "tests/collector/killed_loop"
        self.loop = options.build / "tests/cli/guarded_loop"
        self.checks = cli.Checks()

    def words(self, *program, options=()):
        return [self.mishap, "watch", "--no-preload", *options, "--", *program]

    def start(self, folder, *program, options=(), **more):
        return cli.start(self.words(*program, options=options),
                         env=cli.environment(MISHAP_RECORDS=folder), **more)

    def run(self, folder, *program, options=(), bare=False):
        words = program if bare else self.words(*program, options=options)
        return subprocess.run(
            ["env", "--default-signal", *map(str, words)],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
            env=cli.environment(MISHAP_RECORDS=folder))

    def expect_one(self, folder, what, kind, outcome=None):
        """The only record, after looking at what every one has to have."""
        found = cli.records(folder)
        kinds = [record["kind"] for record in found]
        if not self.checks.expect(kinds == [kind], f"{what}: records {kinds}"):
            return None
        record = found[0]
        if outcome:
            own = [row for row in rows(folder)
                   if record["record_id"] in row["record_ids"]]
            self.checks.expect(
                [row["outcome"] for row in own] == [outcome]
                and own[0]["run_id"] == record["run_id"]
                and own[0]["pid"] == record["process"]["pid"],
                f"{what}: rows {[row['outcome'] for row in rows(folder)]}")
        return record

    def run_parts(self, name, *parts):
        """Runs them and ends the script with the figure."""
        start = time.monotonic()
        for part in parts:
            part()
        self.checks.finish(
            f"{name}: {self.checks.done - self.checks.failed} of "
            f"{self.checks.done} checks held in "
            f"{time.monotonic() - start:.0f} s")


class mapping:
    """The file in which killed_loop keeps the number of its hook."""

    def __enter__(self):
        self.folder = cli.scratch()
        self.name = pathlib.Path(self.folder.name) / "mapping"
        self.name.write_bytes(bytes(16))
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


def read_mapping(numbers):
    return struct.unpack("qq", numbers.name.read_bytes())
