"""specdash, the dashboard: ``streamlit run app.py``. Page list and shared sidebar controls, nothing else."""

from contextlib import suppress

import streamlit as st

from specdash.ui import hosting, link, page, router, selection, text

router.enter()
link.begin()
navigation = st.navigation(router.pages())
router.note(navigation)
st.session_state["selection"] = selection.sidebar()
for what in selection.missing():
    text.notice(what, "error", "Not here.")
with link.button(), suppress(page.Ended):
    hosting.note()
    navigation.run()
