# syntax=docker/dockerfile:1
# The container image of the service. bootstrap/deployment/README.md says how to run it.
# `npm run verify image` runs these steps.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts
# The native HTTP server comes with binaries for every system: keep those for Node.js 20 (ABI 115) on Linux with glibc.
RUN find node_modules/uWebSockets.js -name "uws_*.node" ! -name "uws_linux_*_115.node" -delete
RUN mkdir bin data && chmod +x dist/bootstrap/panorama.cjs && ln -s ../dist/bootstrap/panorama.cjs bin/panorama

# No compiler, no development packages, and no step that needs a shell.
FROM node:20-bookworm-slim
LABEL org.opencontainers.image.title="panorama-service" \
      org.opencontainers.image.version="3.0.0" \
      org.opencontainers.image.licenses="MIT"
# From 1 MiB on, freed memory goes back to the system at once: glibc would keep that of pictures, once for each thread.
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=1048576 \
    HOST=0.0.0.0 \
    DATA_DIR=/data \
    PATH=/app/bin:/usr/local/bin:/usr/bin:/bin
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/bin ./bin
COPY --from=build /app/bootstrap/deployment/ready.mjs ./bootstrap/deployment/
COPY --from=build --chown=node:node /app/data /data
USER node
VOLUME /data
EXPOSE 8080 8443
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["node", "bootstrap/deployment/ready.mjs"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/bootstrap/panorama.cjs"]
CMD ["serve"]
