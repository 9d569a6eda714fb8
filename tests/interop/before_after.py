"""Compares a run of two versions of the program.

    before_after.py OLD NEW

OLD and NEW are prefixes of files: `<prefix>.json` (the output of `build --json`), `<prefix>-jsonl/` (the data set as JSON Lines) and
`<prefix>-journal.jsonl` (the exported journal). Names of the old version are mapped to the new ones. Prints every difference; exits
with 1 if there is one that is not only wording.
"""

import json
import sys
from collections import Counter
from pathlib import Path

# Old names of columns, fields and keys.
RENAMED = {
    "wave": "batch",
    "prominence": "salience",
    "edited": "edit_reason",
    "barren": "dimensions_without_samples",
    "short": "dimensions_below_target",
}
# Columns with sentences of the program, whose wording may change.
WORDING = {("rejected", "detail")}
# Keys of `build --json` that differ between runs of one version: folders, times, and what a server's prefix cache had.
NOT_COMPARED = {"run", "dataset", "wall_s", "cached", "usd"}
SHOWN = 3


def renamed(value):
    """Returns a value with the new names of its keys."""
    if isinstance(value, dict):
        return {RENAMED.get(key, key): renamed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner) for inner in value]
    return value


def compared(value):
    """Returns a value without the keys that are not compared."""
    if isinstance(value, dict):
        return {key: compared(inner) for key, inner in value.items() if key not in NOT_COMPARED}
    return [compared(inner) for inner in value] if isinstance(value, list) else value


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [renamed(json.loads(line)) for line in file]


def identity(row):
    """Returns what a row is found by: its id, with stage and reason for rejected items."""
    return " ".join(row[key] for key in ("stage", "id", "reason", "role_id") if row.get(key) is not None)


class Comparison:
    def __init__(self):
        self.failed = False

    def differs(self, text, is_wording=False):
        self.failed |= not is_wording
        print(("  note: " if is_wording else "  DIFFERENT: ") + text)

    def equal(self, name, old, new):
        if old != new:
            self.differs(f"{name}: {short(old)} and {short(new)}")

    def summary(self, old, new):
        old, new = compared(old), compared(new)
        for key in sorted(old.keys() | new.keys()):
            self.equal(f"build --json, `{key}`", old.get(key), new.get(key))

    def table(self, name, old, new):
        config = name.split("/")[0]
        self.equal(f"{name}, number of rows", len(old), len(new))
        ids = [Counter(map(identity, rows)) for rows in (old, new)]
        for sign, rest in (("-", ids[0] - ids[1]), ("+", ids[1] - ids[0])):
            for row in sorted(rest)[:SHOWN]:
                self.differs(f"{name}: {sign} {row}")
        by_id = {identity(row): row for row in new}
        columns = Counter()
        first = {}
        for row in old:
            other = by_id.get(identity(row))
            for column in (row.keys() | other.keys()) if other else ():
                if row.get(column) != other.get(column):
                    columns[column] += 1
                    first.setdefault(column, (identity(row), row.get(column), other.get(column)))
        for column, count in sorted(columns.items()):
            row, before, after = first[column]
            text = f"{name}, `{column}`: {count} rows, first {row}: {short(before)} and {short(after)}"
            self.differs(text, (config, column) in WORDING)
        return len(old)

    def journal(self, old, new):
        def calls(records):
            found = Counter()
            for record in records:
                reply = json.dumps(record["reply"], ensure_ascii=False, sort_keys=True)
                found[record["ask"], record["model"], str(record["draw"]), reply] += 1
            return found

        before, after = calls(old), calls(new)
        for sign, rest in (("-", before - after), ("+", after - before)):
            for ask, model, draw, reply in sorted(rest)[:SHOWN]:
                self.differs(f"journal: {sign} {ask} {model} {draw}: {short(reply)}")
        kept = {record["key"] for record in old} & {record["key"] for record in new}
        print(f"  journal: {len(old)} and {len(new)} calls, {len(kept)} with the same key")


def short(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:200] + "…"


def main(old, new):
    print(f"{Path(old).name}:")
    comparison = Comparison()
    comparison.summary(*(renamed(json.loads(Path(run + ".json").read_text(encoding="utf-8"))) for run in (old, new)))
    folders = [Path(run + "-jsonl") for run in (old, new)]
    names = [sorted(str(path.relative_to(folder)) for path in folder.rglob("*.jsonl")) for folder in folders]
    comparison.equal("files", *names)
    rows = 0
    for name in sorted(set(names[0]) & set(names[1])):
        rows += comparison.table(name, *(lines(folder / name) for folder in folders))
    comparison.journal(*(lines(run + "-journal.jsonl") for run in (old, new)))
    print(f"  {rows} rows in {len(names[0])} files: {'different' if comparison.failed else 'the same'}")
    return int(comparison.failed)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
