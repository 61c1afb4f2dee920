// `npm run demo`: what Janus does, on a real control plane, with two controllers as processes and an identity of their own.
import { parseArgs } from "node:util";
import { commits } from "./commits.ts";
import { expectations } from "./expectations.ts";
import { thingsToTry } from "./keep.ts";
import { recipeResumes } from "./recipe-resumes.ts";
import { rollsBack } from "./rolls-back.ts";
import { bold, green, red, say, silence } from "./say.ts";
import { setUp } from "./set-up.ts";
import { survivesKill } from "./survives-kill.ts";
import { waitsUntilReady } from "./waits-until-ready.ts";
import { writesToGit } from "./writes-to-git.ts";

const help = `Usage: npm run demo -- [flags]

Boots a real Kubernetes control plane on this machine, installs Janus, and shows a Transaction that commits, one that
is rolled back, one that is rolled back because the new version never becomes ready, one that survives the kill of
the leading one of two controllers, a backup recipe that survives the kill of its controller, and the cluster in Git, each
change a commit of who made it. Ends with 0 if everything was as promised.

Flags:
  --keep   Leaves the control plane and both controllers running until Ctrl-C, and prints commands to try.
  --help   Shows this text.
`;

const flags = (() => {
  try {
    return parseArgs({
      options: { keep: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return process.exit(2);
  }
})();
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What has to be ended, last one first. What is not on this list yet ends with this process: everything is on a leash. */
const ends: (() => Promise<unknown>)[] = [];
let ending: Promise<never> | undefined;
const end = (code: number): Promise<never> =>
  (ending ??= (async () => {
    for (const one of ends.toReversed()) await one().catch((error: unknown) => console.error(reason(error)));
    return process.exit(code);
  })());

const promised = expectations();
const outcome = (): number => (promised.unmet().length === 0 ? 0 : 1);

let isKept = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => {
    say();
    say("Stopping; nothing stays behind but the cache.", 0);
    silence(); // whatever is interrupted now has nothing to tell
    void end(isKept ? outcome() : 130);
  });

const play = async (): Promise<void> => {
  say(bold("Janus: Kubernetes changes that happen together, or not at all"), 0);
  const stage = await setUp(promised, (end) => ends.push(end));
  for (const part of [commits, rollsBack, waitsUntilReady, survivesKill, recipeResumes, writesToGit])
    await part(stage).catch(async (error: unknown) => {
      promised.expect(`${part.name} is shown to its end`, false, reason(error));
      for (const one of stage.replicas.all)
        for (const line of (await one.complaints()).slice(-20)) say(`${one.name}: ${line}`, 2);
    });
  conclude();
  if (!flags.keep) return;
  isKept = true;
  await thingsToTry(stage.controlPlane, stage.replicas);
  await new Promise(() => setInterval(() => {}, 1 << 30));
};

const conclude = (): void => {
  const count = promised.unmet().length;
  say();
  say(count === 0 ? green("Everything was as promised.") : red(`Not as promised: ${count}, see above.`), 0);
};

await play().catch((error: unknown) => {
  promised.expect("the demo runs to its end", false, reason(error));
  conclude();
});
await end(outcome());
