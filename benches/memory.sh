#!/usr/bin/env bash
# What `dramaturg chunk` holds at its peak, beside the text that it reads: for one large book in each language, and for 10 and
# 1,000 books, which must come to the same.
#
#   benches/memory.sh [BOOK…]
#
# The large books are each BOOK, a text, repeated up to 50 MB and measured as UTF-8, the many copies of the first and the
# last; the shipped books when none is given. Runs
# target/release/dramaturg, or what DRAMATURG names. Needs GNU time. Ends with 1 when a bound is broken: 4 times the text,
# and a tenth more for 1,000 books than for 10.
set -euo pipefail

cd "$(dirname "$0")/.."
program=${DRAMATURG:-target/release/dramaturg}
[ -x "$program" ] || { echo "no $program: run cargo build --release" >&2; exit 2; }
[ -x /usr/bin/time ] || { echo "GNU time is not there" >&2; exit 2; }
[ $# -gt 0 ] || set -- books/a_penny_either_way.txt books/lian_wen_ji.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# Prints the peak of a command in kB.
peak() {
    /usr/bin/time -f %M -o "$folder/peak" "$@" >/dev/null
    cat "$folder/peak"
}

for book in "$@"; do
    large="$folder/large.${book##*.}"
    : >"$large"
    while [ "$(stat -c %s "$large")" -lt 50000000 ]; do
        cat "$book" >>"$large"
    done
    encoding=$("$program" chunk "$large" --json --limit 1 | grep -o '"encoding":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    text=$(iconv -c -f "$encoding" -t UTF-8 "$large" | wc -c)
    for options in "--json" "" "--chapters" "--chapters --json"; do
        # shellcheck disable=SC2086
        kilobytes=$(peak "$program" chunk "$large" $options)
        verdict=""
        if [ $((kilobytes * 1024)) -gt $((text * 4)) ]; then
            verdict=" BROKEN"
            failed=1
        fi
        awk -v peak="$kilobytes" -v text="$text" -v of="$(basename "$book") chunk $options" -v verdict="$verdict" \
            'BEGIN { printf "%6.1f MB, %4.2f times %5.1f MB  %s%s\n", peak * 1.024e-3, peak * 1024 / text, text / 1e6, of, verdict }'
    done
    rm "$large"
done

declare -A peaks
for count in 10 1000; do
    mkdir "$folder/$count"
    for number in $(seq "$count"); do
        book=${!#}
        [ $((number % 2)) -eq 0 ] || book=$1
        cp "$book" "$folder/$count/book-$number.${book##*.}"
    done
    peaks[$count]=$(peak "$program" chunk "$folder/$count" --json)
    awk -v peak="${peaks[$count]}" -v count="$count" 'BEGIN { printf "%6.1f MB for %d books\n", peak * 1.024e-3, count }'
done
if [ $((peaks[1000] * 10)) -gt $((peaks[10] * 11)) ]; then
    echo "not flat"
    failed=1
fi
exit $failed
