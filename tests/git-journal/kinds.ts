// Objects of the Git journal's kinds on the control plane, and what is said of them.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { API_VERSION } from "../../packages/git-journal/src/index.ts";
import { administrator, type Manifest, type Ref } from "../fixtures/administrator.ts";

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
