"""specdash, the dashboard: ``streamlit run app.py``. Page list and shared sidebar controls, nothing else."""

import streamlit as st

from specdash.ui import hosting, link, router, selection, text

router.enter()
link.begin()
navigation = st.navigation(router.pages())
router.note(navigation)
st.session_state["selection"] = selection.sidebar()
for what in selection.missing():
    text.notice(what, "error", "Not here.")
with link.button():
    hosting.note()
    navigation.run()
