// The Git journal for those who write its objects and install it: what is known without a cluster.
export { gitJournalCrds } from "./api/crds.ts";
export * from "./api/names.ts";
export { NUMBER_FLAGS, takesNumber } from "./api/number-flags.ts";
export { PRESET, type PresetResource } from "./core/preset.ts";
export { specProblems } from "./core/spec-problems.ts";
