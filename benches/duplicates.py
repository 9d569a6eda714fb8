"""Compares `dramaturg instruct dedup` with retrieval by rank_bm25 and bm25s on the same file.

    pip install rank_bm25 bm25s
    cargo bench --bench duplicates -- en 100000 50 questions.jsonl
    python benches/duplicates.py questions.jsonl --threshold 0.5

The libraries only look up the eleven nearest neighbours of each question in its group. A complete de-duplication would also
apply the threshold and the second direction. `--queries` limits the look-ups per group; the time for all is extrapolated.
English is split at non-letters, Chinese into bigrams.
"""

import argparse
import json
import re
import resource
import subprocess
import time

import bm25s
import numpy
from rank_bm25 import BM25Okapi

NEAREST = 11


def terms(text):
    """Returns lower-case words and Chinese character bigrams."""
    found = re.findall(r"[a-z0-9']+", text.lower())
    for run in re.findall("[\u3400-\u9fff\U00020000-\U000323af]+", text):
        found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return found


def rank_bm25(questions, queries):
    index = BM25Okapi(questions)
    begun = time.perf_counter()
    for question in questions[:queries]:
        scores = index.get_scores(question)
        numpy.argpartition(scores, -NEAREST)[-NEAREST:] if len(scores) > NEAREST else scores.argsort()
    return time.perf_counter() - begun


def with_bm25s(questions, queries):
    index = bm25s.BM25()
    index.index(questions, show_progress=False)
    begun = time.perf_counter()
    index.retrieve(questions[:queries], k=min(NEAREST, len(questions)), show_progress=False, n_threads=1)
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--threshold", default="0.5")
    parser.add_argument("--queries", type=int, default=200, help="look-ups per group by the libraries")
    parser.add_argument("--groups", type=int, default=2, help="number of groups for the libraries")
    parser.add_argument("--program", default="target/release/dramaturg")
    arguments = parser.parse_args()

    groups = {}
    with open(arguments.file, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            groups.setdefault(row["role"], []).append(terms(row["question"]))
    count = sum(map(len, groups.values()))
    print(f"{count:,} questions in {len(groups)} groups")

    command = [arguments.program, "instruct", "dedup", arguments.file, "--field", "question", "--group", "role"]
    begun = time.perf_counter()
    subprocess.run([*command, "--threshold", arguments.threshold, "--json"], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - begun
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = usage.ru_utime + usage.ru_stime
    print(f"dramaturg  whole command: {wall:.1f} s, {cpu:.1f} s CPU, {count / wall:,.0f} questions/s")

    for name, look_up in [("rank_bm25", rank_bm25), ("bm25s", with_bm25s)]:
        some = list(groups.values())[: arguments.groups]
        done = sum(min(len(questions), arguments.queries) for questions in some)
        taken = sum(look_up(questions, arguments.queries) for questions in some)
        print(f"{name:9}  {done:,} look-ups: {taken:.1f} s, {done / taken:,.0f}/s; extrapolated to all: {count / done * taken:,.0f} s")


if __name__ == "__main__":
    main()
