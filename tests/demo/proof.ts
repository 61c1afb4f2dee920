import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Target } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import type { Expectations } from "./expectations.ts";
import { dim, green, red, say, sayWrapped } from "./say.ts";

type Value = unknown;
type Fields = ReadonlyMap<string, Value>;

const isParent = (value: Value): value is object =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

/** Every value of an object under its path, such as `spec.replicas`. */
const leaves = (value: Value, path = ""): readonly (readonly [string, Value])[] =>
  isParent(value)
    ? Object.entries(value).flatMap(([key, child]) => leaves(child, path === "" ? key : `${path}.${key}`))
    : [[path, value]];

/** What is left out of the comparison, and why: whatever the API server or another controller writes by itself. */
interface LeftOut {
  readonly path: RegExp;
  readonly why: string;
}

const everyWrite: readonly LeftOut[] = [
  { path: /^metadata\.resourceVersion$/, why: "resourceVersion: moves with every write" },
];

const createdAgain: readonly LeftOut[] = [
  {
    path: /^metadata\.(uid|creationTimestamp)$/,
    why: "uid, creationTimestamp: new, because it was deleted and created again",
  },
];

const deploymentController: readonly LeftOut[] = [
  {
    path: /^(status(\..*)?|metadata\.generation|metadata\.annotations\.deployment\.kubernetes\.io\/revision)$/,
    why: "generation, status, the revision annotation, and when those were written: kept by the API server and the Deployment controller, which saw both templates",
  },
];

/** Field ownership by manager, and not by position in the list, which nobody promises. */
const comparable = (object: KubeObject, leftOut: readonly LeftOut[]): Fields => {
  const { managedFields = [], ...metadata } = object.metadata;
  const owners = Object.fromEntries(
    managedFields.map((entry) => {
      const { time, ...rest } = entry;
      const isKubernetes = entry.manager === "kube-controller-manager";
      return [
        `${entry.manager} ${entry.operation} ${entry.apiVersion} ${entry.subresource ?? ""}`,
        isKubernetes ? rest : { ...rest, time },
      ];
    }),
  );
  const all = leaves({ ...object, metadata: { ...metadata, managedFields: owners } });
  return new Map(
    all.filter(([path]) => !leftOut.some((one) => one.path.test(path))).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
};

const digest = (fields: Fields): string =>
  createHash("sha256")
    .update(JSON.stringify([...fields]))
    .digest("hex")
    .slice(0, 10);

const differences = (before: Fields, after: Fields): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].flatMap((path) =>
    isDeepStrictEqual(before.get(path), after.get(path))
      ? []
      : [`${path}: ${JSON.stringify(before.get(path))} → ${JSON.stringify(after.get(path))}`],
  );

export interface Exhibit {
  readonly target: Target;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

const leftOutOf = ({ before, after, target: { kind } }: Exhibit): readonly LeftOut[] => [
  ...everyWrite,
  ...(before?.metadata.uid === after?.metadata.uid ? [] : createdAgain),
  ...(kind === "Deployment" ? deploymentController : []),
];

/** Shows that objects are as they were: every value and every field's owner, with digests, and what was left out and why. */
export const prove = (exhibits: readonly Exhibit[], { expect }: Expectations): void => {
  const width = Math.max(...exhibits.map(({ target: { kind, name } }) => `${kind} ${name}`.length));
  const reasons = new Set<string>();
  for (const exhibit of exhibits) {
    const { target, before, after } = exhibit;
    const label = `${target.kind} ${target.name}`.padEnd(width);
    if (before === undefined || after === undefined) {
      const same = before === after;
      expect(`${label.trim()} ${before === undefined ? "was not there and is" : "was there and is not"} there`, same);
      if (same) say(`${label}  ${green("same")}  was not there before, is not there now`, 2);
      continue;
    }
    const leftOut = leftOutOf(exhibit);
    for (const { why } of leftOut) reasons.add(why);
    const [was, is] = [comparable(before, leftOut), comparable(after, leftOut)];
    const found = differences(was, is);
    const values = [...is.keys()].filter((path) => !path.startsWith("metadata.managedFields.")).length;
    const moved = `resourceVersion ${before.metadata.resourceVersion} → ${after.metadata.resourceVersion}`;
    const digests = `sha256 ${digest(was)} → ${digest(is)}`;
    say(
      `${label}  ${found.length === 0 ? green("same") : red("NOT ")}  ${digests}  ${dim(`${values} values and their owners; ${moved}`)}`,
      2,
    );
    expect(`${label.trim()} is exactly as before`, found.length === 0, found.slice(0, 10).join("; "));
  }
  for (const why of reasons) sayWrapped(`not compared: ${why}`, 4, dim);
};
