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
      { extends: true, test: { name: "unit", include: ["tests/unit/**/*.test.ts"], testTimeout: 10_000 } },
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
