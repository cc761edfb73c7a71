# An image with the command `headrace`, which an ordinary user runs.
#
#     docker build -t headrace .
#     docker run --rm -v "$PWD:/work" headrace run my.toml
#
# docs/how-to/install.md has more.

FROM docker.io/library/rust:1-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /headrace
COPY . .
# The pages of help that `headrace serve` shows are a part of the wheel.
RUN cp -r docs python/headrace/web/docs \
    && python3 -m venv /venv \
    && /venv/bin/pip install --no-cache-dir 'maturin>=1.9.4,<2' \
    && /venv/bin/maturin build --release --locked --out /wheels

FROM docker.io/library/python:3.13-slim-bookworm
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/headrace-*.whl)[all]" \
    && useradd --create-home --uid 1000 headrace \
    && mkdir /work /home/headrace/store \
    && chown headrace /work /home/headrace/store
USER headrace
# Mount a volume here to keep the results.
ENV HEADRACE_STORE=/home/headrace/store
WORKDIR /work
ENTRYPOINT ["headrace"]
CMD ["--help"]
