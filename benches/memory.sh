#!/usr/bin/env bash
# Measures the peak memory of `dramaturg chunk` and `dramaturg extract` for one large book in each language, and for few and many
# books, which must need the same.
#
#   benches/memory.sh [BOOK…]
#
# A large book is a BOOK (plain text) repeated to 50 MB for `chunk` and 10 MB for `extract` (offline), measured as UTF-8. Many books
# are copies of the first and the last BOOK: 10 and 1,000 for `chunk`, 40 and 160 for `extract`. The default is the included books.
# Runs target/release/dramaturg or $DRAMATURG. Needs GNU time. Exits with 1 if a limit is exceeded: 4 times the text for `chunk`,
# 24 times for `extract` (all characters and quotations of a book are found before its first scene), and 10 % more for many books
# than for few.
set -euo pipefail

cd "$(dirname "$0")/.."
program=$(realpath "${DRAMATURG:-target/release/dramaturg}")
[ -x "$program" ] || { echo "error: $program not found; run cargo build --release" >&2; exit 2; }
[ -x /usr/bin/time ] || { echo "error: GNU time not found at /usr/bin/time" >&2; exit 2; }
[ $# -gt 0 ] || set -- books/a_penny_either_way.txt books/lian_wen_ji.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# Prints the peak memory of a command in kB.
peak() {
    /usr/bin/time -f %M -o "$folder/peak" "$@" >/dev/null
    cat "$folder/peak"
}

# Repeats a text up to a number of bytes.
repeated() {
    local large="$folder/large.${1##*.}"
    : >"$large"
    while [ "$(stat -c %s "$large")" -lt "$2" ]; do
        cat "$1" >>"$large"
    done
    echo "$large"
}

# Prints the size of a text as UTF-8 in bytes.
bytes() {
    local encoding
    encoding=$("$program" chunk "$1" --json --limit 1 | grep -o '"encoding":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    iconv -c -f "$encoding" -t UTF-8 "$1" | wc -c
}

# Compares a peak in kB with a text in bytes: peak, text, maximum ratio, label.
judge() {
    local verdict=""
    if [ $(($1 * 1024)) -gt $(($2 * $3)) ]; then
        verdict=" EXCEEDED"
        failed=1
    fi
    awk -v peak="$1" -v text="$2" -v of="$4" -v verdict="$verdict" \
        'BEGIN { printf "%7.1f MB, %5.2f times %5.1f MB  %s%s\n", peak * 1.024e-3, peak * 1024 / text, text / 1e6, of, verdict }'
}

# Compares the peaks for few and many books: two peaks, two counts, label.
flat() {
    local verdict=""
    if [ $(($2 * 10)) -gt $(($1 * 11)) ]; then
        verdict=" NOT FLAT"
        failed=1
    fi
    awk -v few="$1" -v many="$2" -v of="$5: $3 and $4 books" -v verdict="$verdict" \
        'BEGIN { printf "%7.1f MB, %7.1f MB  %s%s\n", few * 1.024e-3, many * 1.024e-3, of, verdict }'
}

# Makes a folder with copies of the first and the last book, alternating.
copies() {
    mkdir -p "$folder/$1"
    local number book
    for number in $(seq "$1"); do
        book=$3
        [ $((number % 2)) -eq 0 ] || book=$2
        cp "$book" "$folder/$1/book-$number.${book##*.}"
    done
}

# Prints the peak memory in kB of offline extraction into a new pool.
extraction() {
    rm -rf "$folder/run"
    mkdir "$folder/run"
    cat >"$folder/run/memory.toml" <<TOML
name = "memory"
seed = 7
books = { paths = ["$1"] }
extract = { pool = "$folder/run/pool" }
[models.rules]
provider = "offline"
[cast]
extractor = "rules"
synthesizers = ["rules"]
director = "rules"
scene = "rules"
sources = ["rules"]
base = "rules"
judge = "rules"
TOML
    peak "$program" extract "$folder/run/memory.toml" --out "$folder/run/out" --quiet
    rm -rf "$folder/run"
}

for book in "$@"; do
    large=$(repeated "$book" 50000000)
    text=$(bytes "$large")
    for options in "--json" "" "--chapters" "--chapters --json"; do
        # shellcheck disable=SC2086
        judge "$(peak "$program" chunk "$large" $options)" "$text" 4 "$(basename "$book") chunk $options"
    done
    large=$(repeated "$book" 10000000)
    judge "$(extraction "$large")" "$(bytes "$large")" 24 "$(basename "$book") extract"
    rm "$large"
done

for count in 10 1000 40 160; do
    copies "$count" "$1" "${!#}"
done
flat "$(peak "$program" chunk "$folder/10" --json)" "$(peak "$program" chunk "$folder/1000" --json)" 10 1000 chunk
flat "$(extraction "$folder/40")" "$(extraction "$folder/160")" 40 160 extract
exit $failed
