# The service, with LangServe, MCP and OpenTelemetry. It needs no network once it is built, and writes to /data only:
#   docker build -t cordon .
#   docker run --rm -v cordon:/data cordon keys add --tenant U1 --role admin
#   docker run --read-only --tmpfs /tmp -v cordon:/data -p 127.0.0.1:8000:8000 cordon
FROM python:3.12.12-slim-bookworm AS build
WORKDIR /build
COPY requirements/serve.txt requirements/serve.txt
COPY pyproject.toml README.md LICENSE ./
COPY deploy/install.sh deploy/install.sh
COPY graph graph
COPY nodes nodes
COPY prompts prompts
RUN deploy/install.sh /opt/cordon

FROM python:3.12.12-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --create-home cordon
COPY --from=build /opt/cordon /opt/cordon
COPY --chown=root:root corpus /opt/cordon/corpus
ENV PATH=/opt/cordon/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    CORDON_HOME=/data/home \
    CORDON_OUT=/data/out
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["cordon"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
