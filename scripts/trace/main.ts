// `npm run -s trace -- FILE...`: prints the life of a Transaction, decision by decision.
import { parseArgs } from "node:util";
import { loadTraced } from "./load-traced.ts";

const USAGE = `Usage: npm run -s trace -- FILE... [--fail-at N] [--crash-at N]

Prints every decision of the controller for the Transaction in these files, run against a model of the API server. All
other manifests in them are the objects that exist before.

  --fail-at N   the API server refuses changes[N]
  --crash-at N  the controller is killed before it has the answer to request N, counted from 1`;

loadTraced();
// Only now: these load the core.
const { lifeOf } = await import("./life.ts");
const { decisionsOf, linksOf } = await import("./print.ts");

const numberOf = (flag: string, value: string | undefined, least: number): number | undefined => {
  if (value === undefined) return undefined;
  if (!/^\d+$/u.test(value) || Number(value) < least)
    throw new Error(`--${flag} must be a whole number from ${least} on`);
  return Number(value);
};

const traced = (): string => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "fail-at": { type: "string" }, "crash-at": { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help === true || positionals.length === 0) return USAGE;
  const failAt = numberOf("fail-at", values["fail-at"], 0);
  const crashAt = numberOf("crash-at", values["crash-at"], 1);
  const misfortunes = { ...(failAt === undefined ? {} : { failAt }), ...(crashAt === undefined ? {} : { crashAt }) };
  const life = lifeOf(positionals, misfortunes);
  return `${decisionsOf(life, misfortunes)}\n\n${linksOf(life, "")}`;
};

try {
  console.log(traced());
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
