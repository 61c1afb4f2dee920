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

interface Verdict {
  readonly differences: readonly string[];
  readonly digests: string;
  readonly fields: string;
  readonly version: string;
}

const judge = (exhibit: Exhibit): { readonly label: string; readonly verdict: Verdict } => {
  const { target, before, after } = exhibit;
  const label = `${target.kind} ${target.name}`;
  if (before === undefined || after === undefined) {
    const [was, is] = [before, after].map((object) => (object === undefined ? "absent" : "there"));
    const found = was === is ? [] : [`it was ${was}, and is ${is}`];
    return { label, verdict: { differences: found, digests: `${was} → ${is}`, fields: "", version: "" } };
  }
  const leftOut = leftOutOf(exhibit);
  const was = comparable(before, leftOut);
  const is = comparable(after, leftOut);
  const verdict = {
    differences: differences(was, is),
    digests: `${digest(was)} → ${digest(is)}`,
    fields: `${is.size}`,
    version: `${before.metadata.resourceVersion} → ${after.metadata.resourceVersion}`,
  };
  return { label, verdict };
};

/** Shows that objects are as they were: every value and every field's owner, with digests, and what was left out and why. */
export const prove = (exhibits: readonly Exhibit[], { expect }: Expectations): void => {
  const width = Math.max(...exhibits.map(({ target: { kind, name } }) => `${kind} ${name}`.length));
  const row = (object: string, same: string, digests: string, fields: string, version: string): void =>
    say(
      `${object.padEnd(width)}  ${same}  ${digests.padEnd(23)}  ${dim(`${fields.padStart(6)}  ${version}`.trimEnd())}`.trimEnd(),
      2,
    );
  row("", "    ", "sha256 before → after", "fields", "version");
  for (const { label, verdict } of exhibits.map(judge)) {
    const { differences, digests, fields, version } = verdict;
    const same = differences.length === 0;
    row(label, same ? green("same") : red("NOT "), digests, fields, version);
    expect(`${label} is exactly as before`, same, differences.slice(0, 10).join("; "));
  }
  sayWrapped("compared: every value, and who owns which field (managedFields)", 4, dim);
  for (const { why } of new Set(exhibits.flatMap(leftOutOf))) sayWrapped(`not compared: ${why}`, 4, dim);
};
