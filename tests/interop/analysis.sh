#!/usr/bin/env bash
# Shows that the code of docs/analysis.md runs, and that polars, DuckDB and pandas give the same answers.
#
#   tests/interop/analysis.sh [DATASET] [VENV]
#
# The arguments are those of run.sh. Not part of `cargo test`.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dataset=${1:-$here/../../outputs/demo/dataset}
if [ ! -f "$dataset/README.md" ]; then
    echo "error: no data set in $dataset (make one with \`dramaturg build pipelines/demo.toml\`)" >&2
    exit 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
venv=${2:-$scratch/venv}
python="$venv/bin/python"
if ! [ -x "$python" ] || ! "$python" -c 'import duckdb, pandas, polars, pyarrow' 2>"$scratch/import.log"; then
    python3 -m venv "$venv"
    "$python" -m pip install --quiet --disable-pip-version-check pyarrow duckdb polars pandas
fi
"$python" "$here/analysis.py" "$dataset" "$here/../../docs/analysis.md"
