// Installs the kinds of the Git journal on the control plane, and reads what is said of their objects.
import { asObject, type JsonObject, type KubeObject, type Resource } from "@janus/types";
import { vi } from "vitest";
import {
  API_VERSION,
  clusterWatchRules,
  gitDestinations,
  gitJournalCrds,
  gitRepoConfigs,
  watchRules,
} from "../../packages/git-journal/src/index.ts";
import { administrator, type Manifest, type Ref } from "../fixtures/administrator.ts";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";

const isServed = async ({ group, version, plural }: Resource): Promise<boolean> =>
  (await kubectl("get", "--raw", `/apis/${group}/${version}/${plural}`)).code === 0;

/** They stay: other tests use them, too. */
export const installKinds = async (): Promise<void> => {
  const applied = await kubectlWith(
    { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items: gitJournalCrds }) },
    "apply",
    "--server-side",
    "--force-conflicts",
    "-f",
    "-",
  );
  if (applied.code !== 0) throw new Error(applied.stderr);
  for (const resource of [gitRepoConfigs, gitDestinations, watchRules, clusterWatchRules])
    await vi.waitUntil(() => isServed(resource), 20_000);
};

/** One of the four kinds. @param at `namespace/name`, or `name` */
export const journalObject = (kind: string, at: string, spec: JsonObject = {}): Manifest => {
  const [first = "", second] = at.split("/");
  const metadata = second === undefined ? { name: first } : { namespace: first, name: second };
  return { apiVersion: API_VERSION, kind, metadata, spec };
};

export interface SaidCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export const conditionsIn = (object: KubeObject | undefined): readonly SaidCondition[] =>
  (asObject(object?.["status"])["conditions"] ?? []) as unknown as readonly SaidCondition[];

/** Such as `False AccessDenied`; empty: nothing is said yet. */
export const readyOf = async (ref: Ref): Promise<string> => {
  const ready = conditionsIn(await administrator.read(ref)).find(({ type }) => type === "Ready");
  return ready === undefined ? "" : `${ready.status} ${ready.reason}`;
};

export const messageOf = async (ref: Ref): Promise<string> =>
  conditionsIn(await administrator.read(ref)).find(({ type }) => type === "Ready")?.message ?? "";
