# shellcheck shell=bash
# Sourced by start.sh and test.sh, from the project folder: makes .venv and keeps it up to date.
# An existing .venv that works is kept, whatever $PYTHON says; to change its Python, delete it.

root=$(pwd -P)
missing=() # Debian packages to install; a caller adds what it needs before prepare

die() {
    printf '%s\n' "$@" >&2
    exit 1
}

# True if .venv was made here, with a Python in range, and runs. pip names its own place and its
# Python, so a .venv copied from another path, or left behind by a Python upgrade, shows too.
venv_works() {
    local said
    said=$(.venv/bin/pip --version 2>/dev/null) || return 1
    [[ $said == *" from $root/.venv/"*"(python 3.1"[123]")" ]]
}

# Sets $python to the first interpreter in range, and $venv_package to Debian's name for its venv.
# Each one is run: a version manager's stand-in can be on the PATH without anything behind it.
find_python() {
    local name said found=''
    for name in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11; do
        # The base executable, because an activated .venv is no good for remaking that .venv.
        said=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2], getattr(sys, "_base_executable", sys.executable))' \
            2>/dev/null </dev/null) || continue
        if [[ $said == 3.1[123]" "* ]]; then
            python=${said#* }
            venv_package=${name##*/}-venv
            return
        fi
        found+="${found:+, }$name (${said%% *})"
    done
    die "specdash needs Python 3.11, 3.12 or 3.13. Found: ${found:-no Python that runs}." \
        "Install one of these, or name one: PYTHON=/path/to/python3.12 $0"
}

# Installs what is missing or, where that is not ours to do, says how and stops.
install_missing() {
    if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
        die "Missing on this machine: ${missing[*]} (Debian's names). Please run this, then $0 again:" \
            "    sudo apt-get update && sudo apt-get install -y ${missing[*]}"
    fi
    echo "Installing with apt-get: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# prepare REQUIREMENTS: brings the machine and .venv up to date with a requirements file.
prepare() {
    local requirements=$1 remake='' stamp now

    # What may need the administrator comes first, in one go.
    if ! venv_works; then
        remake=yes
        find_python
        # Debian packs ensurepip, without which a venv gets no pip, separately.
        "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=("$venv_package")
    fi
    if [[ ${#missing[@]} -gt 0 ]]; then install_missing; fi

    if [[ $remake ]]; then
        echo "Making .venv with $python"
        rm -rf .venv
        "$python" -m venv "$root/.venv"
    fi

    # The stamp is the checksum of all that decides what is installed. It is written last, so an
    # interrupted installation is taken up again by the next run.
    stamp=.venv/$requirements.stamp
    now=$(cat requirements.txt "$requirements" pyproject.toml | cksum)
    if [[ $now != "$(cat "$stamp" 2>/dev/null)" ]]; then
        echo "Installing $requirements into .venv (a few minutes the first time)"
        rm -f "$stamp"
        .venv/bin/pip install --quiet --no-input --disable-pip-version-check -r "$requirements"
        # The project itself, for the command specdash.
        .venv/bin/pip install --quiet --no-input --disable-pip-version-check --no-deps -e .
        echo "$now" >"$stamp"
    fi
}
