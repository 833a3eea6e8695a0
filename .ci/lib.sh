# What .ci/run and .ci/long share: steps with a heading, a duration and a result, and the table at
# the end. It is sourced, never run. Needs bash; changes to the repository's root.

set -uo pipefail
export LC_ALL=C CI=true CARGO_TERM_COLOR=never
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

root=$PWD
target=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A step's remark for the table, one line.
note_file=$work/note

names=() results=() seconds=() cpu=() notes=()

# Sets $spent to the seconds of CPU that finished steps have used: on a machine that does other work
# too, these say more than the clock.
read_cpu() {
    times >"$work/times"
    spent=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$work/times")
}

# step NAME COMMAND...: runs the command in a subshell that ends at its first failure.
step() {
    local name=$1 began=$SECONDS status spent before
    shift
    read_cpu
    before=$spent
    printf '\n=== %s\n' "$name"
    : >"$note_file"
    (set -e; "$@") 2>&1
    status=$?
    local took=$((SECONDS - began)) result=passed
    if [ "$status" -ne 0 ]; then
        result=FAILED
        printf '!!! FAILED: %s (exit status %s)\n' "$name" "$status"
    fi
    printf -- '--- %s: %s, %s s\n' "$name" "$result" "$took"
    read_cpu
    names+=("$name") results+=("$result") seconds+=("$took") cpu+=("$((spent - before))") notes+=("$(head -n 1 "$note_file")")
}

note() { printf '%s\n' "$*" >"$note_file"; printf '%s\n' "$*"; }

# The table, then `N passed, N failed`; the exit status says whether anything failed.
finish() {
    local at passed=0 failed=0 spent
    read_cpu
    printf '\n=== summary, %s s and %s s of CPU on %s cores, commit %s\n' "$SECONDS" "$spent" "$(nproc)" \
        "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
    for at in "${!names[@]}"; do
        printf '%-7s %5s s %5s s CPU  %s%s\n' "${results[at]}" "${seconds[at]}" "${cpu[at]}" "${names[at]}" "${notes[at]:+: ${notes[at]}}"
        if [ "${results[at]}" = passed ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
}

# Prints where the tests look for the reference folder.
shared_folder() { printf '%s\n' "${FIXBOLT_SHARED:-$root/../shared}"; }

# The packages outside the workspace compile its crates, so they are locked to its versions: the
# fuzzer, which has no other dependencies, by a copy of the lock file; the peers' own file is
# updated when the workspace changes.
lock_outside() {
    cp Cargo.lock fuzz/Cargo.lock
    local package
    for package in fuzz peers/interop; do
        cargo metadata --format-version 1 --manifest-path $package/Cargo.toml >/dev/null
    done
    git diff --stat -- peers/interop/Cargo.lock
}

# fuzzing SECONDS: fuzzes every target for this long.
fuzzing() {
    lock_outside
    cargo run --locked --release --manifest-path fuzz/Cargo.toml -- --seconds "$1" --seed "${FUZZ_SEED:-1}" | tee "$work/fuzz"
    note "$(tail -n 1 "$work/fuzz")"
}

# simulation PROGRAM ARGUMENT...: sessions in simulated worlds.
simulation() {
    local program=$1
    shift
    "$program" simulate "$@" | tee "$work/simulation"
    note "$(grep -m 1 ' worlds, ' "$work/simulation"); $(tail -n 1 "$work/simulation")"
}

# peers NAME short|all: Fixbolt and another engine against each other.
peers() {
    lock_outside
    peers/interop/run "$2" --peer "$1" | tee "$work/peers"
    note "$(tail -n 1 "$work/peers")"
}

# Runs a build; sets $spent to its seconds of CPU, including dependencies and build scripts.
cpu_of() {
    TIMEFORMAT='%U %S'
    { time "$@" >"$work/build" 2>&1; } 2>"$work/times" || {
        cat "$work/build"
        return 1
    }
    spent=$(awk '{ printf "%.1f", $1 + $2 }' "$work/times")
}

# Sets $yard to the seconds of CPU in which this machine, just now, builds a library that is not ours
# in a locked version. A core that is shared with other work compiles at half its speed or less, and
# the CPU time says nothing of it: a limit in seconds needs a yardstick from the same minute.
yardstick() {
    local folder=$work/yardstick
    rm -rf "$folder"
    mkdir -p "$folder/src"
    echo 'pub use regex_automata::meta;' >"$folder/src/lib.rs"
    cp Cargo.lock "$folder"
    cat >"$folder/Cargo.toml" <<END
[package]
name = "yardstick"
edition = "2024"
[workspace]
[dependencies]
regex-automata = "0.4"
END
    cargo metadata --format-version 1 --manifest-path "$folder/Cargo.toml" >/dev/null
    CARGO_TARGET_DIR=$folder/target cpu_of cargo build --locked --release --manifest-path "$folder/Cargo.toml"
    rm -rf "$folder"
    yard=$spent
}

# Sets $spent to what it would be on the machine on which the limits were set, where the yardstick
# takes 19 s, and $unscaled to what it was.
scale() {
    unscaled=$spent
    spent=$(awk -v spent="$spent" -v yard="$yard" 'BEGIN { printf "%.1f", spent * 19 / yard }')
}

# users_program FOLDER: tests and runs the program there, which compiles without a warning.
users_program() {
    cargo metadata --format-version 1 --manifest-path "$1/Cargo.toml" >/dev/null
    cargo test --locked --release --manifest-path "$1/Cargo.toml" 2>&1 | tee "$work/users"
    cargo run --locked --release --manifest-path "$1/Cargo.toml" 2>&1 | tee -a "$work/users"
    if grep "^warning: .outside" "$work/users"; then return 1; fi
    note "$(tail -n 1 "$work/users")"
}

# typed_messages FEATURE...: the cost of each version alone: its generated lines, and the CPU time
# of the messages crate in a release build after its dependencies are built. FIX.4.4 must be small.
typed_messages() {
    local feature folder lines said=
    local build=(cargo build --locked --release -p fixbolt-messages)
    export CARGO_TARGET_DIR=$target/ci-typed
    rm -rf "$CARGO_TARGET_DIR"
    "${build[@]}"
    for feature in "$@"; do
        cpu_of "${build[@]}" --features "$feature"
        folder=$(ls -td "$CARGO_TARGET_DIR"/release/build/fixbolt-messages-*/out | head -n 1)
        lines=$(cat "$folder"/*.rs | wc -l)
        printf '%-10s %7s lines %6s s of CPU\n' "$feature" "$lines" "$spent"
        said+="${said:+; }$feature $lines lines, $spent s of CPU"
        if [ "$feature" = fix44 ]; then
            [ "$lines" -le 30000 ]
            [ "${spent%.*}" -lt 15 ]
        fi
    done
    note "$said"
}

# install_tools PEER...: installs the Debian packages that these peers, .ci/instructions and the
# attacks need; the first step of both scripts.
install_tools() {
    peers/tools "$@"
    if hash valgrind strace 2>/dev/null; then
        note "valgrind, strace and what builds the peers $* are there"
        return
    fi
    install_packages valgrind strace
    note "valgrind, strace and what builds the peers $* installed"
}

# install_packages PACKAGE...: installs packages of Debian.
install_packages() {
    local as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get update -q
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends "$@"
}
