#!/usr/bin/env bash
# Compares two versions of the program: builds the demo, and a run with served models, with both and checks that ids, replies, scores
# and row counts are the same. Renamed columns and keys are mapped by before_after.py.
#
#   tests/interop/before_after.sh OLD NEW [OLD_PIPELINES [NEW_PIPELINES]]
#
# OLD and NEW are executables, or git commits to build. OLD_PIPELINES and NEW_PIPELINES are the folders with demo.toml and served.toml
# in the keys of each version; the default is pipelines/ of the commit, or of this repository for an executable. The served run needs a
# mock server: MOCK_SERVER is a command that prints its URL on the first line and answers the same request with the same reply.
# Without it the served run is skipped. KEEP=1 keeps the temporary folder. Needs Python 3.9 or later. This is not part of `cargo test`.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(realpath "$here/../..")
[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
work=$(mktemp -d)
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    git -C "$repository" worktree prune
    [ -n "${KEEP:-}" ] && echo "kept $work" || rm -rf "$work"
}
trap cleanup EXIT

# version NAME WHAT PIPELINES: prepares $work/NAME with the program, the books and the pipeline files of a version.
version() {
    local name=$1 what=$2 pipelines=${3:-}
    mkdir "$work/$name"
    if [ -x "$what" ] && [ -f "$what" ]; then
        ln -s "$(realpath "$what")" "$work/$name/dramaturg"
        cp -r "${pipelines:-$repository/pipelines}" "$work/$name/pipelines"
    else
        git -C "$repository" worktree add --detach --quiet "$work/$name-source" "$what"
        (cd "$work/$name-source" && cargo build --quiet --locked --target-dir "$work/$name-target")
        ln -s "$work/$name-target/debug/dramaturg" "$work/$name/dramaturg"
        cp -r "${pipelines:-$work/$name-source/pipelines}" "$work/$name/pipelines"
    fi
    cp -r "$repository/books" "$work/$name/books"
}

# build NAME RUN OPTIONS…: builds a run, and writes its data set and journal as JSON Lines.
build() {
    local name=$1 run=$2 code=0
    shift 2
    (cd "$work/$name" && ./dramaturg build "$@" --out "$run" --json --quiet >"$run.json") || code=$?
    # 3: the run ended, but some items failed, as they may with a mock.
    [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || { echo "error: the $name version exited with $code in run $run" >&2; exit 1; }
    (cd "$work/$name" && ./dramaturg export "$run" --format jsonl --out "$run-jsonl" >/dev/null &&
        ./dramaturg journal export "$run" >"$run-journal.jsonl")
}

compare() { python3 "$here/before_after.py" "$work/old/$1" "$work/new/$1"; }

version old "$1" "${3:-}"
version new "$2" "${4:-}"
failed=0

for name in old new; do build "$name" demo pipelines/demo.toml; done
compare demo || failed=1

if [ -n "${MOCK_SERVER:-}" ]; then
    for name in old new; do
        # A new server for each version: no state is shared.
        : >"$work/url"
        $MOCK_SERVER >"$work/url" 2>/dev/null &
        server=$!
        until [ -s "$work/url" ]; do sleep 0.1; done
        OPENAI_BASE_URL="$(head -n 1 "$work/url")/v1" OPENAI_API_KEY=none \
            build "$name" served pipelines/served.toml --set 'cast.extractor="offline"' --set simulate.tau=2
        kill "$server"
        wait "$server" 2>/dev/null || true
        server=
    done
    compare served || failed=1
else
    echo "served: skipped, because MOCK_SERVER is not set"
fi
exit $failed
