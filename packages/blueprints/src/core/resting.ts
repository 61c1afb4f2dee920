// Drops what an ActionSet does not need while it waits: it is read again before anything is decided.
import { type KubeObject, sizeOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { identified, type Memory, remember } from "./memory.ts";

/** An ActionSet without what its author may make as large as fits into etcd. */
export const identityOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
  };
};

/** Read again with its journal, as after a restart. */
const outline = ({ object, isKnown }: Memory): Memory => ({ ...remember(identityOf(object)), isKnown });

const bytes = ({ object, journal, facts, logs, execs }: Memory): number =>
  sizeOf(object) +
  (journal.type === "read" ? sizeOf(journal.journal) : 0) +
  [...facts.values()].reduce((sum, one) => sum + (E.isRight(one) ? sizeOf(one.right) : 0), 0) +
  [...logs.values(), ...execs.values()].reduce((sum, one) => sum + sizeOf(one), 0);

/** See `Resting` in the runtime. */
export const resting = {
  rest: (memory: Memory): Memory => {
    const object = identityOf(memory.object);
    return { ...memory, object, actionSet: identified(object) };
  },
  outline,
  bytes,
};
