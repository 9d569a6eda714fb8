#!/usr/bin/env bash
# Shows that other programs read the data set as it was meant: `datasets`, pyarrow, DuckDB, polars and pandas.
#
#   tests/interop/run.sh [DATASET] [VENV]
#
# DATASET is the data set's folder (outputs/demo/dataset when absent). VENV is where the Python packages go; it is used again
# when it is there, and without it a temporary one is made and removed. Needs Python 3.10 or later and, for a new VENV, a
# package index. Not part of `cargo test`.
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
if ! [ -x "$python" ] || ! "$python" -c 'import datasets, duckdb, pandas, polars, pyarrow' 2>"$scratch/import.log"; then
    python3 -m venv "$venv"
    "$python" -m pip install --quiet --disable-pip-version-check datasets pyarrow duckdb polars pandas
fi

# Nothing is asked of the hub, and nothing of an earlier run is read from a cache.
HF_HUB_OFFLINE=1 HF_HOME="$scratch/cache" HF_DATASETS_CACHE="$scratch/cache/datasets" HF_DATASETS_DISABLE_PROGRESS_BARS=1 \
    "$python" "$here/read.py" "$dataset"
