# The image of the controllers: that of Blueprints is started with --blueprints. That of the Git journal needs git, and has an image of
# its own: --target git-journal. Every RUN of the first stage is also run by tests/deploy/image.test.ts in an empty directory, so these
# use paths relative to WORKDIR and no feature of one container engine.

FROM node:24-slim AS build
WORKDIR /build
# The dependencies change less often than the source: they are fetched first, from the lock file alone, and stay cached.
COPY pnpm-lock.yaml pnpm-workspace.yaml ./
RUN npx --yes pnpm@12.21.0 fetch
COPY . .
RUN npx --yes pnpm@12.21.0 install --frozen-lockfile --prefer-offline
RUN node_modules/.bin/tsc -b packages/program
# Only what the controllers need at run time: their compiled files and production dependencies, copied, with no link to the workspace.
RUN npx --yes pnpm@12.21.0 --filter @janus/program deploy --prod --no-optional janus

# Git itself is a shell program in parts, and starts ssh by the shell. tini is the first process: it waits for what git has started and
# left behind, and when Node ends, the container ends, and no git goes on writing.
FROM node:24-slim AS git-journal
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git openssh-client tini && rm -rf /var/lib/apt/lists/*
WORKDIR /janus
COPY --from=build /build/janus ./
# That of the base image: ssh refuses users without a name.
USER 1000:1000
EXPOSE 8080 9443
ENV MALLOC_ARENA_MAX=1
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/node", "--max-semi-space-size=4", "dist/main.js"]

# No shell, no package manager, no other programs. `nonroot` is user 65532; the number is repeated because a Pod with
# runAsNonRoot is only started when the image names its user by number.
FROM gcr.io/distroless/nodejs24-debian13:nonroot
WORKDIR /janus
COPY --from=build /build/janus ./
USER 65532:65532
EXPOSE 8080
# The allocator of glibc keeps what is free in an arena for each thread: with one arena, a busy controller holds 11 MiB less.
ENV MALLOC_ARENA_MAX=1
# How much new objects may take before garbage is collected would depend on the memory of the container, or of the node where it
# has no limit: 3 MiB in a container of 512 MiB, 192 MiB on a large node, which are then held for good.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=4", "dist/main.js"]
