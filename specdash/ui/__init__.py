"""The few Streamlit helpers that pages share."""
