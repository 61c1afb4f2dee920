import { defineConfig } from "vitest/config";

export default defineConfig({
  // Workspace packages run from source, as they do under `node --conditions=source`.
  ssr: { resolve: { conditions: ["source", "module", "node"] } },
  test: {
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 25 } },
    reporters: ["verbose"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["tests/unit/**/*.test.ts"],
          exclude: ["tests/unit/model/explore*.test.ts"],
          testTimeout: 10_000,
        },
      },
      // The core against every schedule of a model API server: no cluster either, but a minute and not a second.
      { extends: true, test: { name: "model", include: ["tests/unit/model/explore*.test.ts"], testTimeout: 600_000 } },
      {
        extends: true,
        test: {
          name: "cluster",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/unit/**", "**/node_modules/**"],
          globalSetup: ["tests/control-plane/global-setup.ts"],
        },
      },
    ],
  },
});
