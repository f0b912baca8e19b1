#!/usr/bin/env bash
# Serves the dashboard on http://localhost:8501 (another port: PORT=9000 ./start.sh), after making
# .venv if need be. Further arguments go to Streamlit; --server.address 0.0.0.0 lets others reach it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/env.sh
source scripts/env.sh

prepare requirements.txt
# On a desktop, the first run of Streamlit would ask for an e-mail address before it serves.
export STREAMLIT_SERVER_SHOW_EMAIL_PROMPT=false
exec .venv/bin/python -m specdash.ui --server.port "${PORT:-8501}" "$@"
