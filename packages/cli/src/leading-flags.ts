// Moves flags from before the command to after it, as kubectl accepts both.

/** The flags of every command that take a value. */
const WITH_VALUE: readonly string[] = [
  "-n",
  "--namespace",
  "--context",
  "--cluster",
  "--user",
  "--kubeconfig",
  "--as",
  "--as-group",
  "--request-timeout",
];

const isGlobal = (arg: string | undefined): arg is string =>
  arg !== undefined && WITH_VALUE.includes(arg.split("=")[0] ?? "");

/** Moves flags from before the command to after it: kubectl takes `-n shop get` and `get -n shop`. */
export const withFlagsAfterCommand = (args: readonly string[]): readonly string[] => {
  const flags: string[] = [];
  let at = 0;
  for (let arg = args[at]; isGlobal(arg); arg = args[at]) {
    const count = arg.includes("=") ? 1 : 2;
    flags.push(...args.slice(at, at + count));
    at += count;
  }
  return [...args.slice(at, at + 1), ...flags, ...args.slice(at + 1)];
};

/** `help plan` as `plan --help`, and `--version` as `version --client`: other words for the same. */
export const withoutOtherWords = (args: readonly string[]): readonly string[] => {
  const [first, ...rest] = args;
  if (first === "help") return [...rest, "--help"];
  return first === "--version" ? ["version", "--client", ...rest] : args;
};
