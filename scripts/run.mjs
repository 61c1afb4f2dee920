// Runs a TypeScript file or a tool of this repository, from whatever state the checkout is in.
//
//   node scripts/run.mjs packages/deploy/src/crd.ts   a TypeScript file, from source
//   node scripts/run.mjs vitest run                   a tool of node_modules/.bin
//
// Plain JavaScript for Node 20 and nothing else, because it is what installs everything else. Its own words go to
// stderr: stdout belongs to the thing.
//
// Guarantees: dependencies are those of pnpm-lock.yaml; Node is new enough; stdio, arguments and exit code go through;
// SIGINT, SIGTERM and SIGHUP reach the thing once each; it does not outlive this process, however that ends.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";

const pnpm = "pnpm@12.21.0";
const oldestNode = [22, 19];
const root = path.dirname(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname));
const bin = path.join(root, "node_modules/.bin");

/** @param {string} message @returns {never} */
const giveUp = (message) => {
  console.error(message);
  process.exit(1);
};

const installDependencies = () => {
  const stamp = path.join(root, "node_modules/.installed");
  const wanted = [
    createHash("sha256")
      .update(readFileSync(path.join(root, "pnpm-lock.yaml")))
      .digest("hex"),
    pnpm,
    process.platform,
    process.arch,
  ].join(" ");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;

  console.error(`Installing the dependencies of pnpm-lock.yaml with ${pnpm} ...`);
  const { status, error } = spawnSync("npx", ["--yes", pnpm, "install", "--frozen-lockfile"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (error) giveUp(`Cannot start npx (${error.message}). Install npm, which comes with Node, and try again.`);
  if (status !== 0) giveUp("The dependencies could not be installed: see above. Nothing was started.");
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
};

/** The pinned Node where there is one for this platform, else the one that runs this, if it is new enough. */
const chooseNode = () => {
  const pinned = path.join(bin, "node");
  if (existsSync(pinned)) return pinned;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return process.execPath;
  return giveUp(
    `Node ${oldestNode.join(".")} or newer is needed, and this is ${process.versions.node}. On Linux with glibc (x64, arm64) a new ` +
      `enough one comes with the dependencies; on ${process.platform}-${process.arch} please install Node 24 and try again.`,
  );
};

const [thing, ...args] = process.argv.slice(2);
if (thing === undefined) giveUp("Usage: node scripts/run.mjs <file.ts | tool> [arguments]");
installDependencies();
const node = chooseNode();

const isFile = thing.endsWith(".ts");
const tool = path.join(bin, thing);
if (!isFile && !existsSync(tool)) giveUp(`There is no tool called ${thing} in node_modules/.bin.`);

// Before there is anything to forward to: a signal that came in between would end this process alone.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  let forwarded = -Infinity;
  process.on(signal, () => {
    if (performance.now() - forwarded < 500) return;
    forwarded = performance.now();
    child.kill(signal);
  });
}

// A process group of its own, so that Ctrl-C in a terminal, which reaches every process of ours and which npm then
// forwards once more, reaches the thing once: from here.
// What Node has compiled is kept for all processes that are started from here: a controller starts in half the time.
const child = spawn(isFile ? node : tool, isFile ? ["--conditions=source", path.resolve(root, thing), ...args] : args, {
  cwd: root,
  stdio: "inherit",
  detached: true,
  env: {
    NODE_COMPILE_CACHE: path.join(root, "node_modules/.compile-cache"),
    ...process.env,
    PATH: [path.dirname(node), bin, process.env.PATH].join(path.delimiter),
  },
});
child.on("error", (error) => giveUp(`Cannot start ${thing}: ${error.message}. ${node} may not fit this system.`));

// Waits for a line, or for this process to be gone without one (SIGKILL): then nobody is left to forward anything.
const guard = spawn("/bin/sh", ["-c", `read -r _ || kill -TERM -${child.pid}`], {
  stdio: ["pipe", "ignore", "ignore"],
  detached: true,
});
guard.on("error", () => {});

child.on("exit", (code, signal) => {
  guard.stdin.end("done\n", () => process.exit(code ?? 128 + constants.signals[signal]));
});
