#!/usr/bin/env bash
# Runs the queries of docs/analyze-*.md and checks that polars, DuckDB and pandas give the same results.
#
#   tests/interop/analysis.sh [DATASET] [VENV]
#
# The arguments are those of run.sh. This is not part of `cargo test`.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/python.sh"

"$python" "$here/analysis.py" "$dataset" "$here"/../../docs/analyze-*.md
