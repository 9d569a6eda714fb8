"""Runs every answer of docs/analysis.md on a data set and shows that polars, DuckDB and pandas agree on each question."""

import os
import re
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl

LIBRARIES = {"python polars", "sql duckdb", "python pandas"}


def questions(text):
    """Returns each heading with its blocks of code by library."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = dict(re.findall(r"^```(\w+ \w+)\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL))
        yield part.splitlines()[0], blocks


def answer(library, code):
    """Returns the rows of an answer, its columns in order."""
    if library == "sql duckdb":
        return duckdb.sql(code).fetchall()
    names = {"pd": pd, "pl": pl}
    exec(code, names)
    frame = names["answer"]
    return frame.rows() if isinstance(frame, pl.DataFrame) else list(frame.itertuples(index=False, name=None))


def plain(rows):
    """Returns rows in which numbers of all libraries look alike."""

    def value(cell):
        if cell is None or cell != cell:
            return None
        return cell if isinstance(cell, str) else round(float(cell), 6)

    return [tuple(value(cell) for cell in row) for row in rows]


def main(dataset, document):
    text = Path(document).read_text(encoding="utf-8")
    os.chdir(dataset)
    asked = list(questions(text))
    assert len(asked) == 10, f"{len(asked)} questions"
    for heading, blocks in asked:
        assert set(blocks) == LIBRARIES, f"{heading}: {sorted(blocks)}"
        answers = {library: plain(answer(library, code)) for library, code in blocks.items()}
        first = answers["python polars"]
        assert first, f"{heading}: no rows"
        for library, rows in answers.items():
            assert rows == first, f"{heading}: {library} says\n{rows}\nand polars\n{first}"
        print(f"{heading:<60} {len(first):>4} rows, three times the same")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
