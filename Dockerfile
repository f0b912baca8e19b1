# The dashboard, its library on a volume: docker build -t specdash . && docker run -p 127.0.0.1:8501:8501 -v specdash:/data specdash
FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STREAMLIT_SERVER_SHOW_EMAIL_PROMPT=false \
    STREAMLIT_SERVER_PORT=8501 \
    SPECDASH_HOME=/data

WORKDIR /app

# What is installed changes seldom, so it comes first.
COPY requirements.txt .
RUN pip install --no-cache-dir --disable-pip-version-check -r requirements.txt

COPY . .
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps -e . \
    && useradd --system --uid 10001 --no-create-home --home-dir /data specdash \
    && install -d -o specdash -g specdash /data

USER specdash
VOLUME /data
EXPOSE 8501

# slim has no curl. With a baseUrlPath set STREAMLIT_SERVER_BASE_URL_PATH, which moves the address of the check too.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "scripts/healthy.py"]

# Inside the container every address is taken; who reaches it is decided by what the port is published on.
CMD ["python", "-m", "specdash.ui", "--server.address", "0.0.0.0", "--server.fileWatcherType", "none"]
