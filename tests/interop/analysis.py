"""Runs every query of docs/analyze-*.md on a data set and checks that polars, DuckDB and pandas agree."""

import os
import re
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl

LIBRARIES = {"python polars", "sql duckdb", "python pandas"}


def questions(text):
    """Yields each heading with its code blocks by library."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = dict(re.findall(r"^```(\w+ \w+)\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL))
        yield part.splitlines()[0], blocks


def answer(library, code):
    """Returns the result rows of a query."""
    if library == "sql duckdb":
        return duckdb.sql(code).fetchall()
    names = {"pd": pd, "pl": pl}
    exec(code, names)
    frame = names["answer"]
    return frame.rows() if isinstance(frame, pl.DataFrame) else list(frame.itertuples(index=False, name=None))


def plain(rows):
    """Returns the rows with numbers normalised across libraries."""

    def value(cell):
        if cell is None or cell != cell:
            return None
        return cell if isinstance(cell, str) else round(float(cell), 6)

    return [tuple(value(cell) for cell in row) for row in rows]


def main(dataset, documents):
    texts = [Path(document).read_text(encoding="utf-8") for document in documents]
    os.chdir(dataset)
    asked = [question for text in texts for question in questions(text)]
    assert len(asked) == 10, f"expected 10 queries, found {len(asked)}"
    for heading, blocks in asked:
        assert set(blocks) == LIBRARIES, f"{heading}: code blocks for {sorted(blocks)} only"
        answers = {library: plain(answer(library, code)) for library, code in blocks.items()}
        first = answers["python polars"]
        assert first, f"{heading}: no rows"
        for library, rows in answers.items():
            assert rows == first, f"{heading}: {library} returns\n{rows}\nand polars\n{first}"
        print(f"{heading:<60} {len(first):>4} rows, all three agree")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
