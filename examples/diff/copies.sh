# Sourced by the scripts beside it: `copies_of NAME` enters a folder with two copies of examples/NAME, `before` and `after`. Uses the `relay`
# of the PATH, or builds it.

copies_of() {
    local root
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    if ! command -v relay > /dev/null; then
        cargo build --release --quiet --manifest-path "$root/Cargo.toml" --package relay-cli
        PATH=$root/target/release:$PATH
    fi
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    cp -r "$root/examples/$1" "$dir/before"
    cp -r "$root/examples/$1" "$dir/after"
    cd "$dir"
}
