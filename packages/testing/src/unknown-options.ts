// Finds options of simulate that do not exist: no compiler refuses them in JavaScript.
import { isObject } from "@janus/types";
import type { Denied } from "./api-server/denied.ts";
import type { Edit, ObjectName, Refusal, SimulateOptions } from "./options.ts";

/** The fields that a record may have; the compiler demands all of them. */
type Fields<A> = Readonly<Record<keyof A, true>>;

const OPTIONS: Fields<SimulateOptions> = {
  failAt: true,
  denied: true,
  edits: true,
  ready: true,
  notReady: true,
  now: true,
  requests: true,
};
const REFUSAL: Fields<Refusal> = { change: true, code: true, message: true };
const DENIED: Fields<Denied> = { verbs: true, kind: true, namespace: true, name: true };
const EDIT: Fields<Edit> = { before: true, target: true, patch: true, manager: true };
const NAME: Fields<ObjectName> = { apiVersion: true, kind: true, name: true, namespace: true };

const unknownIn = (where: string, value: unknown, fields: Readonly<Record<string, true>>): readonly string[] =>
  isObject(value)
    ? Object.keys(value)
        .filter((field) => !Object.hasOwn(fields, field))
        .map((field) => `${where} "${field}" does not exist: there are ${Object.keys(fields).join(", ")}`)
    : [];

/** The first option that does not exist, or has a field that does not, with those that do. */
export const unknownOption = (options: SimulateOptions): string | undefined => {
  const { failAt, denied = [], edits = [], notReady = [], requests = "all" } = options;
  const [first] = [
    ...unknownIn("the option", options, OPTIONS),
    ...unknownIn("failAt:", failAt, REFUSAL),
    ...denied.flatMap((one, index) => unknownIn(`denied[${index}]:`, one, DENIED)),
    ...edits.flatMap((edit, index) => [
      ...unknownIn(`edits[${index}]:`, edit, EDIT),
      ...unknownIn(`edits[${index}].target:`, edit.target, NAME),
    ]),
    ...notReady.flatMap((target, index) => unknownIn(`notReady[${index}]:`, target, NAME)),
    ...(["all", "targets"].includes(requests)
      ? []
      : [`requests: "${requests}" does not exist: there are targets, all`]),
  ];
  return first;
};
