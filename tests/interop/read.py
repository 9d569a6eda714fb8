"""Reads a data set with five libraries and compares the values with each other and with the card.

    read.py DATASET

Prints a table of the configs and every mismatch. Exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

import datasets
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import yaml

CHINESE = re.compile(r"[\u3400-\u9fff]")

# Top-level and nested columns that must contain Chinese text if the card lists the language.
CHINESE_COLUMNS = {"samples": ["situation", "history", "messages"], "scenes": ["situation", "dialogue"],
                   "roles": ["description", "dialogue"], "role_specific": ["question", "generated"],
                   "role_general": ["question", "generated"]}

faults: list[str] = []


def expect(holds: bool, fault: str) -> None:
    """Records a mismatch and continues, so that one run shows all of them."""
    if not holds:
        faults.append(fault)


def strings(value):
    """Yields every string in a nested value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from strings(inner)


def type_name(dtype: pyarrow.DataType) -> str:
    """Returns the name of an Arrow type without the names of list items."""
    if pyarrow.types.is_list(dtype):
        return f"list<{type_name(dtype.value_type)}>"
    if pyarrow.types.is_struct(dtype):
        return "struct<" + ", ".join(f"{field.name}: {type_name(field.type)}" for field in dtype) + ">"
    return str(dtype)


def first_difference(one: list[dict], other: list[dict]) -> str:
    if len(one) != len(other):
        return f"{len(one)} rows and {len(other)} rows"
    for row, (left, right) in enumerate(zip(one, other)):
        for column in left.keys() | right.keys():
            if left.get(column) != right.get(column):
                return f"row {row}, `{column}`: {left.get(column)!r} and {right.get(column)!r}"
    return "none"


def check_split(folder: Path, config: str, split: str, pattern: str, listed: dict) -> tuple:
    where = f"{config}/{split}"
    files = sorted(folder.glob(pattern))
    expect(len(files) >= 1, f"{where}: no file matches {pattern}")
    glob = str(folder / pattern)
    quoted = glob.replace("'", "''")

    # The features on the card must be the types of the files.
    rows = datasets.load_dataset(str(folder), config, split=split)
    bare = datasets.load_dataset("parquet", data_files=[str(file) for file in files], split="train")
    expect(rows.features == bare.features, f"{where}: the card says {rows.features}, the files {bare.features}")
    expect(
        rows.features._to_yaml_list() == listed["features"],
        f"{where}: `datasets` would write the features differently from the card",
    )

    # The library ignores a malformed card with a warning, so check what it has read.
    info = datasets.load_dataset_builder(str(folder), config).info
    expect(info.splits is not None and info.splits[split].num_examples == rows.num_rows, f"{where}: the card's splits are ignored")
    held = rows.info.splits[split].num_bytes
    listed_bytes = next(s["num_bytes"] for s in listed["splits"] if s["name"] == split)
    expect(abs(held - listed_bytes) <= 0.02 * held + 1024, f"{where}: takes {held} bytes, the card says {listed_bytes}")

    table = pyarrow.parquet.read_table([str(file) for file in files])
    for file in files:
        parquet = pyarrow.parquet.ParquetFile(file)
        expect(not (parquet.metadata.metadata or {}).get(b"ARROW:schema"), f"{file}: embeds an Arrow schema")
    for field in table.schema:
        expect(field.nullable, f"{where}: `{field.name}` is not nullable")
        expect(
            not re.search(r"large_|_view", str(field.type)), f"{where}: `{field.name}` has the unexpected type {field.type}"
        )

    count = next(s["num_examples"] for s in listed["splits"] if s["name"] == split)
    counts = {
        "card": count,
        "datasets": rows.num_rows,
        "pyarrow": table.num_rows,
        "duckdb": duckdb.sql(f"select count(*) from '{quoted}'").fetchall()[0][0],
        "polars": polars.read_parquet(glob).height,
        "pandas": sum(len(pandas.read_parquet(file)) for file in files),
    }
    expect(len(set(counts.values())) == 1, f"{where}: counts differ: {counts}")
    expect(count > 0, f"{where}: the card lists an empty split")

    as_arrow = table.to_pylist()
    relation = duckdb.sql(f"select * from '{quoted}'")
    readers = {
        "datasets": rows.to_list(),
        "duckdb": [dict(zip(relation.columns, row)) for row in relation.fetchall()],
        "polars": polars.read_parquet(glob).to_dicts(),
    }
    for reader, values in readers.items():
        expect(values == as_arrow, f"{where}: pyarrow and {reader} differ: {first_difference(as_arrow, values)}")

    # Python compares strings by code point, which is the byte order of UTF-8.
    key = "role_id" if config == "roles" else "id"
    keys = [tuple(row.values()) for row in as_arrow] if config == "rejected" else [row[key] for row in as_arrow]
    expect(keys == sorted(keys), f"{where}: rows are not sorted")
    if config != "rejected":
        expect(len(set(keys)) == len(keys), f"{where}: ids are not unique")

    texts = list(strings(as_arrow))
    chinese = sum(bool(CHINESE.search(text)) for text in texts)
    expect(not any("\ufffd" in text for text in texts), f"{where}: contains U+FFFD, a sign of wrongly decoded text")
    languages = {row["language"] for row in as_arrow if "language" in row}
    if "zh" in languages:
        for column in CHINESE_COLUMNS.get(config, []):
            of_column = [text for row in as_arrow if row["language"] == "zh" for text in strings(row[column])]
            expect(any(CHINESE.search(text) for text in of_column), f"{where}: no Chinese text in `{column}`")
    nested = sum(pyarrow.types.is_nested(field.type) for field in table.schema)
    return table.schema, (config, split, count, len(table.schema), nested, len(texts), chinese, " ".join(sorted(languages)))


def main(folder: Path) -> int:
    _, front, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    card = yaml.safe_load(front)
    infos = {info["config_name"]: info for info in card["dataset_info"]}
    configs = {config["config_name"]: config for config in card["configs"]}
    expect(list(configs) == list(infos), f"`configs` has {list(configs)}, `dataset_info` {list(infos)}")
    on_disk = {path.parent.name for path in folder.glob("*/*.parquet")}
    expect(on_disk == set(configs), f"the folder has {sorted(on_disk)}, the card {sorted(configs)}")
    if "samples" in configs:
        default = datasets.load_dataset_builder(str(folder))
        expect(
            default.config.name == "samples",
            "`samples` is not the default config",
        )

    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (datasets, pyarrow, duckdb, polars, pandas))
    print(f"read with {versions}\n")
    lines, types = [], {}
    for name, config in configs.items():
        listed = {split["name"] for split in infos[name]["splits"]}
        expect(
            listed == {files["split"] for files in config["data_files"]} and len(listed) == len(config["data_files"]),
            f"{name}: `configs` and `dataset_info` list different splits",
        )
        for files in config["data_files"]:
            try:
                schema, line = check_split(folder, name, files["split"], files["path"], infos[name])
            except Exception as error:
                faults.append(f"{name}/{files['split']}: failed to read: {type(error).__name__}: {error}")
                continue
            lines.append(line)
            types[name] = schema

    if "zh" in card.get("language", []):
        for config in CHINESE_COLUMNS:
            of_config = [line for line in lines if line[0] == config]
            # A data set may have no roles.
            expect(not of_config and config.startswith("role") or any("zh" in line[-1].split() for line in of_config), f"{config}: no Chinese rows, though the card says zh")

    head = ("config", "split", "rows", "columns", "nested", "strings", "chinese", "languages")
    widths = [max(len(str(line[i])) for line in [head, *lines]) for i in range(len(head))]
    for line in [head, *lines]:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip())
    print()
    for name, schema in types.items():
        for field in schema:
            if pyarrow.types.is_nested(field.type):
                print(f"{name}.{field.name}: {type_name(field.type)}")

    if faults:
        sys.stdout.flush()
        print(f"\n{len(faults)} mismatches:", file=sys.stderr)
        for fault in faults:
            print(f"- {fault}", file=sys.stderr)
        return 1
    print("\nall readers agree")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
