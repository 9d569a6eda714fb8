#!/usr/bin/env bash
# Checks that `datasets`, pyarrow, DuckDB, polars and pandas read the same values from a data set.
#
#   tests/interop/run.sh [DATASET] [VENV]
#
# DATASET is the data set's folder, by default outputs/demo/dataset. VENV is a Python environment with the packages; it is created if
# missing. Without the argument a temporary one is used. Needs Python 3.10 or later and, for a new VENV, a package index. This is not
# part of `cargo test`.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/python.sh"

# Offline, with a new cache.
HF_HUB_OFFLINE=1 HF_HOME="$scratch/cache" HF_DATASETS_CACHE="$scratch/cache/datasets" HF_DATASETS_DISABLE_PROGRESS_BARS=1 \
    "$python" "$here/read.py" "$dataset"
