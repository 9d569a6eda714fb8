#!/usr/bin/env bash
# Kills a build again and again, lets it go on, and compares its Parquet files with those of an unbroken run.
#
#   tests/interop/kill.sh [KILLS] [PIPELINE] [further options of `dramaturg build` …]
#
# Ten kills of pipelines/demo.toml when silent. For a served pipeline set OPENAI_BASE_URL and OPENAI_API_KEY first. The
# program is taken from target/release, or from DRAMATURG. Works in a temporary folder; exits 1 on a difference.
set -euo pipefail
cd "$(dirname "$0")/../.."

kills=${1:-10}
pipeline=${2:-pipelines/demo.toml}
shift $(($# < 2 ? $# : 2))
program=$(realpath "${DRAMATURG:-target/release/dramaturg}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r books pipelines "$work"
cd "$work"

build() { "$program" build "$pipeline" --quiet --json --out "$1" "${@:2}"; }
hashes() { (cd "$1/dataset" && find . -name '*.parquet' | sort | xargs sha256sum); }

begun=$(date +%s%N)
build whole "$@" >whole.json
took=$(($(date +%s%N) - begun))
echo "unbroken: $((took / 1000000)) ms, $(cat whole.json)"

for kill in $(seq "$kills"); do
    # Without exec the signal would reach a shell, not the program.
    (exec "$program" build "$pipeline" --quiet --out broken "$@") >/dev/null 2>&1 &
    # Somewhere in what is left, as far as that is known.
    sleep "$(awk -v took="$took" -v kills="$kills" -v random="$RANDOM" \
        'BEGIN { print took / 1e9 * random / 32767 * 2 / kills }')"
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    echo "kill $kill: $(grep -c '"record"' broken/journal.jsonl 2>/dev/null || true) calls in the journal"
done
build broken "$@" >broken.json
echo "at last: $(cat broken.json)"

if diff <(hashes whole) <(hashes broken); then
    echo "the same bytes after $kills kills"
else
    echo "the bytes differ" >&2
    exit 1
fi
