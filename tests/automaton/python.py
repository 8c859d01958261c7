#!/usr/bin/env python3
"""Asks Python about each row of python.jsonl: `python.py` compares, `python.py --write` records its answers.

A row has a pattern, a text, and Python's answer: true, false, or "error". Where relay answers otherwise by design, `relay` is its
answer (or "refused") and `why` the reason. `cargo test` compares relay with the file, and needs no Python.
"""

import json
import pathlib
import re
import sys
import warnings

FILE = pathlib.Path(__file__).with_name("python.jsonl")


def answer(pattern, text):
    """Returns the answer of `re.search`, with ASCII classes."""
    try:
        return bool(re.search(pattern, text, re.ASCII))
    except (re.error, OverflowError):
        return "error"


def main():
    if sys.version_info < (3, 11):
        sys.exit("Python 3.11 is needed: the possessive repetitions are newer than 3.10")
    # Python warns that `[[a]` and `[a&&b]` may change; the rows say what they mean today.
    warnings.simplefilter("ignore", FutureWarning)
    rows = [json.loads(line) for line in FILE.read_text("utf-8").split("\n") if line]
    differ = 0
    for row in rows:
        found = answer(row["pattern"], row["text"])
        if "--write" in sys.argv:
            row["python"] = found
        elif row["python"] != found:
            differ += 1
            print(f"{row['pattern']!r} in {row['text']!r}: Python says {found}, the file {row['python']}")
    if "--write" in sys.argv:
        FILE.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    print(f"regexes: {len(rows)} answers of Python {sys.version.split()[0]} compared, {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
