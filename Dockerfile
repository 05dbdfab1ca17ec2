# The container image. `npm start` does not need it. scripts/image.test.ts runs these steps in a plain folder.
#
# The images are pinned by the digest of their index, which has all platforms. To update one, look up the new digest:
# docker buildx imagetools inspect node:26.10.0-bookworm-slim

FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY contract/package.json contract/
COPY sdk/src/package.json sdk/src/
COPY simulator/package.json simulator/
COPY server/package.json server/
COPY console/package.json console/
COPY cli/package.json cli/
COPY bench/package.json bench/
COPY reliability/package.json reliability/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# Build the console and the bundle with all dependencies. Then remove those that only the build, the console's sources, the
# benchmarks and the reliability scenarios need, and Node, which the image has.
RUN node scripts/ensure-console.mjs && node scripts/bundle.mjs \
 && rm -rf console/package.json bench/package.json reliability/package.json \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/node-linux-* node_modules/node-bin-* node_modules/.bin/node node_modules/.cache

FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 PARLEY_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/CHANGELOG.md ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/contract contract
COPY --from=build /app/sdk sdk
COPY --from=build /app/docs docs
COPY --from=build /app/simulator simulator
COPY --from=build /app/server server
COPY --from=build /app/cli cli
COPY --from=build /app/scripts scripts
COPY --from=build /app/console/dist console/dist
RUN printf '#!/bin/sh\nexec node --max-semi-space-size=32 --heap-growing-percent=100 /app/cli/dist/main.mjs "$@"\n' > /usr/local/bin/parley \
 && chmod 755 /usr/local/bin/parley \
 && install -d -o node -g node -m 0711 /data
USER node
# Used only without DATABASE_URL: the embedded database and the generated secret keys.
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=40s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["parley"]
CMD ["start"]
