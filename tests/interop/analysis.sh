#!/usr/bin/env bash
# Shows that the code of docs/analysis.md runs, and that polars, DuckDB and pandas give the same answers.
#
#   tests/interop/analysis.sh [DATASET] [VENV]
#
# The arguments are those of run.sh. Not part of `cargo test`.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/python.sh"

"$python" "$here/analysis.py" "$dataset" "$here/../../docs/analysis.md"
