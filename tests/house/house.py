"""What the house rules share: the files of the tree, and the way to report."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("collector", "faultinject", "trainer")


def read_tree(root=ROOT):
    """Returns {path: text} of the tree's text files, ignored ones left out."""
    try:
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout.split("\0")
        paths = [path for path in listing if path]
    except (OSError, subprocess.CalledProcessError):
        paths = [str(path.relative_to(root)) for path in root.rglob("*")
                 if path.is_file() and path.relative_to(root).parts[0] not in ("build", ".git")]
    tree = {}
    for path in sorted(set(paths)):
        try:
            tree[path] = (root / path).read_text(encoding="utf-8")
        except (FileNotFoundError, IsADirectoryError):
            continue
        except UnicodeDecodeError:
            tree[path] = ""
    return tree


def self_test(check, clean, plants):
    """Proves that `check` is silent on `clean` and finds each planted file.

    `plants` holds (path, text, words of the expected problem).
    """
    problems = check(clean)
    if problems:
        sys.exit("self test: false alarm: " + "; ".join(problems))
    for path, text, expected in plants:
        found = check({**clean, path: text})
        if not any(path in problem and expected in problem for problem in found):
            sys.exit(f"self test: not found: {expected!r} planted in {path}; found {found}")
        if len(found) != 1:
            sys.exit(f"self test: {path} should give one problem, gave {found}")
    print(f"self test passed: {len(plants)} planted violations found, of {len(plants)}")


def run(name, check, clean, plants):
    """The main function of a rule file."""
    if sys.argv[1:] == ["--self-test"]:
        self_test(check, clean, plants)
        return
    if sys.argv[1:]:
        sys.exit(f"usage: {name} [--self-test]")
    tree = read_tree()
    problems = check(tree)
    for problem in problems:
        print(problem)
    print(f"{name}: {len(tree)} files read, {len(problems)} problems")
    sys.exit(1 if problems else 0)
