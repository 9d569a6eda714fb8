#!/usr/bin/env bash
# Shows that other programs read the data set as it was meant: `datasets`, pyarrow, DuckDB, polars and pandas.
#
#   tests/interop/run.sh [DATASET] [VENV]
#
# DATASET is the data set's folder (outputs/demo/dataset when absent). VENV is where the Python packages go; it is used again
# when it is there, and without it a temporary one is made and removed. Needs Python 3.10 or later and, for a new VENV, a
# package index. Not part of `cargo test`.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/python.sh"

# Nothing is asked of the hub, and nothing of an earlier run is read from a cache.
HF_HUB_OFFLINE=1 HF_HOME="$scratch/cache" HF_DATASETS_CACHE="$scratch/cache/datasets" HF_DATASETS_DISABLE_PROGRESS_BARS=1 \
    "$python" "$here/read.py" "$dataset"
