# Sourced by run.sh and analysis.sh with their arguments. Sets `here` (their folder), `dataset`, `scratch` (a temporary folder, removed
# at exit) and `python` (an interpreter with the packages).

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dataset=${1:-$here/../../outputs/demo/dataset}
if [ ! -f "$dataset/README.md" ]; then
    echo "error: no data set in $dataset; run \`dramaturg build pipelines/demo.toml\`" >&2
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
