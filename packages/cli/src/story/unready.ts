// Finds objects of the Git journal that are not Ready, with the words of the controller, and those that nobody has looked at.
import type { KubeObject } from "@janus/kube";
import { asObject, type JsonObject } from "@janus/types";
import { printable } from "../output/printable.ts";
import type { Finding } from "./checkup.ts";

/** The controller looks at one at once, in ms, and a clone takes longer. */
const PATIENCE = 60_000;

/** So many are named with their reasons. */
const MOST = 10;

const readyOf = (object: KubeObject): JsonObject => {
  const { conditions } = asObject(object["status"]);
  return (Array.isArray(conditions) ? conditions : []).map(asObject).find(({ type }) => type === "Ready") ?? {};
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const nameOf = ({ kind, metadata: { namespace, name = "" } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;

/** @param object that is not Ready */
const finding = (object: KubeObject): Finding => {
  const { reason, message } = readyOf(object);
  return reason === undefined
    ? {
        isFine: false,
        what: `${nameOf(object)}: nobody has looked at it`,
        cure: "the controller of the Git journal is not there, or watches other namespaces (--watch-namespace)",
      }
    : {
        isFine: false,
        what: printable(`${nameOf(object)}: ${text(reason)}: ${text(message)}`),
        cure: "by reason: docs/troubleshooting.md#the-git-journal",
      };
};

const isLate = (object: KubeObject, now: number): boolean => {
  const { status, lastTransitionTime } = readyOf(object);
  if (status === "True" || object.metadata.deletionTimestamp !== undefined) return false;
  const since = text(lastTransitionTime) || text(object.metadata.creationTimestamp);
  return status === "False" || now - Date.parse(since) > PATIENCE;
};

/** One for each object that is not Ready, and is not just being looked at; of very many, the number of the others. */
export const unready = (all: readonly KubeObject[], now: number): readonly Finding[] => {
  const late = all.filter((object) => isLate(object, now));
  const more = late.length - MOST;
  return [
    ...late.slice(0, MOST).map(finding),
    ...(more > 0
      ? [
          {
            isFine: false,
            what: `${more} more objects of the Git journal are not Ready`,
            cure: "kubectl get gitjournal",
          },
        ]
      : []),
  ];
};
