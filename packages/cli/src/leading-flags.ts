/** The flags of every command that take a value. */
const WITH_VALUE: readonly string[] = ["-n", "--namespace", "--context", "--kubeconfig", "--as", "--as-group"];

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
