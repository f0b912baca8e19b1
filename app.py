"""specdash, the dashboard: ``streamlit run app.py``. Page list and shared sidebar controls, nothing else."""

import streamlit as st

from specdash.ui import router, selection, text

router.enter()
navigation = st.navigation(router.pages())
st.session_state["selection"] = selection.sidebar()
for what in selection.missing():
    text.notice(what, "error", "Not here.")
navigation.run()
