# shellcheck shell=bash
# What the checks from outside share: where they install, which binaries they test, a key to sign with.
# Sourced by run.sh in tests/clients, tests/conformance, tests/hooks, tests/jinja and tests/sarif; needs `root` (the repository) set.

target=${CARGO_TARGET_DIR:-$root/target}
relay=$(realpath "${RELAY:-$target/debug/relay}")
relay_serve=$(realpath "${RELAY_SERVE:-$target/debug/relay-serve}")
for binary in "$relay" "$relay_serve"; do
    [[ -x $binary ]] || { echo "no binary $binary: build it, or set RELAY and RELAY_SERVE" >&2; exit 2; }
done

# Installed once; the versions in its name identify a stale folder.
tools=$target/outside
mkdir -p "$tools"

# Nothing here may touch the keys, the state or the epochs of the person who runs it.
work=$(mktemp -d "${TMPDIR:-/tmp}/relay-outside.XXXXXX")
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state XDG_DATA_HOME=$work/data
mkdir -p "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_DATA_HOME"

# Sets `node22`. The suite needs Node 22; the npm package brings one without root.
need_node() {
    local arch folder
    case $(uname -m) in
        x86_64) arch=x64 ;;
        aarch64) arch=arm64 ;;
        *) echo "no Node for $(uname -m)" >&2; exit 2 ;;
    esac
    folder=$tools/node-22
    node22=$folder/node_modules/node-linux-$arch/bin/node
    [[ -x $node22 ]] || npm install --silent --no-save --no-audit --no-fund --prefix "$folder" "node-linux-$arch@22"
    "$node22" --version >/dev/null
}

# Makes the key and the trust file that all bundles of this run use.
make_key() {
    local entry
    entry=$("$relay" keygen -o "$work/check")
    {
        grep -q '^version' <<<"$entry" || echo 'version = 1'
        echo "$entry"
    } >"$work/trust.toml"
}

# build PROJECT FILE [argument of `relay build` ...]: builds and signs a bundle.
build() {
    "$relay" build "$1" -o "$2" --key "$work/check.key" -q "${@:3}"
}
