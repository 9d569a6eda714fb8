#!/usr/bin/env bash
# Checks that a build works with models behind a LiteLLM proxy, as an independent server, and that its errors are recognised.
#
#   tests/interop/litellm.sh [VENV]
#
# VENV is a Python environment with LiteLLM; it is created if missing. Without the argument a temporary one is used. Needs Python 3.10
# or later and, for a new VENV, a package index. Runs target/release/dramaturg or $DRAMATURG. The proxy listens on loopback and
# answers with mock responses and tests/interop/litellm.py, so it needs no key and no model. This is not part of `cargo test`.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=$(realpath "${DRAMATURG:-target/release/dramaturg}")
here=$PWD/tests/interop
work=$(mktemp -d)
proxy=
trap '[ -z "$proxy" ] || kill "$proxy" 2>/dev/null; rm -rf "$work"' EXIT
venv=${1:-$work/venv}
if ! [ -x "$venv/bin/litellm" ]; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'litellm[proxy]'
fi

key=sk-interop-0123456789
cp "$here/litellm.py" "$work/own.py" # the package's name is `litellm`
cat >"$work/config.yaml" <<YAML
model_list:
  - {model_name: talk, litellm_params: {model: openai/x, api_key: none, mock_response: "(nods) So I have heard, and twice."}}
  - {model_name: instance, litellm_params: {model: own/instance}}
  - {model_name: busy, litellm_params: {model: openai/x, api_key: none, mock_response: litellm.RateLimitError}}
  - {model_name: broken, litellm_params: {model: openai/x, api_key: none, mock_response: litellm.InternalServerError}}
  - {model_name: short, litellm_params: {model: openai/x, api_key: none, mock_response: litellm.ContextWindowExceededError}}
litellm_settings: {custom_provider_map: [{provider: own, custom_handler: own.model}]}
general_settings: {master_key: $key}
router_settings: {num_retries: 0, disable_cooldowns: true}
YAML
port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(cd "$work" && LITELLM_LOCAL_MODEL_COST_MAP=True exec "$venv/bin/litellm" --config config.yaml --host 127.0.0.1 --port "$port" \
    --telemetry False) >"$work/proxy.log" 2>&1 &
proxy=$!
for _ in $(seq 300); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    kill -0 "$proxy" || { cat "$work/proxy.log" >&2 && exit 1; }
    sleep 1
done
echo "LiteLLM $("$venv/bin/python" -c 'import importlib.metadata as m; print(m.version("litellm"))')"

cp -r books pipelines "$work"
cd "$work"
export OPENAI_BASE_URL=http://127.0.0.1:$port/v1 OPENAI_API_KEY=$key

# build OUT CODE MODEL PARTS: runs a build with MODEL in the cast's PARTS and expects the exit code CODE.
build() {
    local out=$1 code=$2 model=$3 parts=$4 ended=0 options=()
    for part in $parts; do options+=(--set "cast.$part=\"served\""); done
    # A run waits for a failing provider; after a minute its messages are complete.
    timeout --preserve-status --signal=INT 60 "$program" build pipelines/demo.toml --json --out "$out" --limit 2 --set 'cast.sources=["vivid"]' \
        --set "models.served={provider=\"openai\",model=\"$model\",max_tries=2,max_tokens=1000}" "${options[@]}" \
        >"$out.json" 2>"$out.log" || ended=$?
    if [ "$ended" != "$code" ]; then
        echo "error: the build \`$out\` exited with $ended instead of $code" >&2
        cat "$out.log" >&2
        exit 1
    fi
    echo "$out: exit code $ended; $(cat "$out.json")"
}
expect() { grep -q "$2" "$1.log" || { echo "error: the log of \`$1\` does not contain \"$2\"" >&2 && cat "$1.log" >&2 && exit 1; }; }
hashes() { (cd "$1/dataset" && find . -name '*.parquet' | sort | xargs sha256sum); }

build talk 0 talk "base"
build whole 0 instance "base scene director judge"
build again 0 instance "base scene director judge"
diff <(hashes whole) <(hashes again) || { echo "error: the Parquet files of two builds differ" >&2 && exit 1; }
build nobody 4 nobody "base"
expect nobody 'cannot be used'
build busy 130 busy "base"
expect busy 'is rate limited (HTTP 429'
build broken 130 broken "base"
expect broken 'is failing repeatedly (HTTP 500'
build short 3 short "base"
expect short 'context'
OPENAI_API_KEY=sk-wrong build wrong_key 4 talk "base"
expect wrong_key 'cannot be used'
echo "all builds with LiteLLM ended as expected"
