# The App in a container. It needs nothing but its own packages, a Postgres (DATABASE_URL) and its settings. Images of
# agents in Python can be made from it (docs/kubernetes.md): it has the agent server and its worker, and Debian's Python.
FROM node:24-bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /landfall
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
# npm runs this as `prepare`; without devDependencies it does nothing.
COPY scripts/ready.mjs ./scripts/
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force
COPY src ./src
COPY app ./app
COPY python/landfall_worker ./python/landfall_worker
USER node
# 0.0.0.0: the loopback of a container cannot be reached from outside.
ENV HOST=0.0.0.0 PORT=3000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "app/main.ts"]
