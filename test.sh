#!/usr/bin/env bash
# Runs the linters and the tests, after installing what they need. Arguments go to pytest:
# ./test.sh tests/browser -x
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/env.sh
source scripts/env.sh

# The browser tests need a browser. Chromium's headless shell draws a page in half the time, so as root on
# Debian it is installed even beside another; elsewhere any Chromium will do. The driver of Playwright needs
# libatomic, which a bare Debian does not have.
if ! command -v chromium-headless-shell >/dev/null; then
    if [[ $EUID -eq 0 ]] && grep -qs '^ID=debian' /etc/os-release ||
        ! command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null; then
        missing+=(chromium-headless-shell)
    fi
fi
if [[ -x /sbin/ldconfig && $(/sbin/ldconfig -p) != *libatomic.so.1* ]]; then
    missing+=(libatomic1)
fi
prepare requirements-dev.txt
export PATH="$root/.venv/bin:$PATH"

# A part that fails does not stop the next ones. pytest is last, so its summary ends the output.
status=0
part() {
    printf '\n== %s ==\n' "$*"
    "$@" || {
        status=1
        printf 'FAILED: %s\n' "$*"
    }
}
part ruff check .
part ruff format --check .
part lint-imports
printf '\n== pytest ==\n'
# A file is tested by one process, so what its tests share is made once. The tests that drive a browser wait a part
# of their time, so there is one process more than there are processors. Files keep their order: by their number of
# tests those of the browser would come last, few and long, when the other processes have nothing left to do.
workers=$(($(nproc) < 4 ? $(nproc) + 1 : 4))
python -m pytest --numprocesses "$workers" --dist loadfile --no-loadscope-reorder "$@" || status=1
exit "$status"
