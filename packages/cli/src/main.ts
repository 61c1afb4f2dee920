#!/usr/bin/env node
// The entry point of kubectl janus: loads all else only in a Node that has what it needs.

const OLDEST = [22, 19] as const;

const isTooOld = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
};

if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `error: kubectl janus needs Node ${OLDEST.join(".")} or newer, and this is ${process.versions.node} (${process.execPath}): install a newer one, or put its directory first in $PATH\n`,
  );
  process.exitCode = 1;
} else {
  const { run } = await import("./run.ts");
  await run(process.argv.slice(2));
}
