// The settings of the controllers of the suites of Blueprints.

/** A Pod has longer until it runs than any trouble of a test lasts on a slow machine. */
export const SETTINGS = { defaultServiceAccount: "ops", podReadyTimeout: 600_000, toolsImage: "tools", seed: "test" };
