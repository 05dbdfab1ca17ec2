# The container image. `npm start` does not need it.

FROM node:26-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY contract/package.json contract/
COPY sdk/src/package.json sdk/src/
COPY simulator/package.json simulator/
COPY server/package.json server/
COPY console/package.json console/
COPY cli/package.json cli/
COPY bench/package.json bench/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# Build the console with the development dependencies, then remove them.
RUN node --input-type=module -e "import { ensureConsole } from '/app/scripts/ensure-console.mjs'; await ensureConsole('/app', process.execPath)" \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 # The image has its own Node.
 && rm -rf node_modules/node-linux-* node_modules/node-bin-* node_modules/.bin/node node_modules/.cache

FROM node:26-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 PARLEY_DATA_DIR=/data
WORKDIR /app
COPY --from=build --chown=root:root /app ./
RUN printf '#!/bin/sh\nexec node --max-semi-space-size=16 --heap-growing-percent=50 /app/cli/src/main.ts "$@"\n' > /usr/local/bin/parley && chmod 755 /usr/local/bin/parley \
 && install -d -o node -g node -m 0711 /data
USER node
# Used only without DATABASE_URL: the embedded database and the generated secret keys.
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=40s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["parley"]
CMD ["start"]
