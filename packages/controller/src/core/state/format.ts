import { cut, FORMAT } from "@janus/api";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import { asObject, type KubeObject } from "@janus/types";

/** How many unknown keys are named. */
const FEW = 3;

export const isLaterFormat = (format: unknown): boolean => typeof format === "number" && format > FORMAT;

const unknownFormat = (written: unknown, plain: (text: string) => string | undefined): string | undefined => {
  if (written === undefined) return undefined;
  const format = typeof written === "string" ? plain(written) : undefined;
  if (format === undefined || !/^[1-9]\d{0,8}$/u.test(format)) return "in a format that this version does not know";
  return isLaterFormat(Number(format)) ? `format ${format}; this version knows ${FORMAT}` : undefined;
};

const unknownKeys = (keys: readonly string[]): string | undefined =>
  keys.length === 0
    ? undefined
    : `with ${cut(keys.slice(0, FEW).join(", "), 200)}${keys.length > FEW ? ", …" : ""}, which this version does not know`;

/**
 * Why a journal or snapshot is not modified: a later version of the controller wrote it. Its data has the format
 * under `format`; absent: 1.
 *
 * @param what it is
 * @param isKnown matches every key of the known formats
 * @param plain decodes a value of its data
 */
export const ofLater = (
  what: string,
  place: ObjectRef,
  object: KubeObject,
  isKnown: RegExp,
  plain: (text: string) => string | undefined = (text) => text,
): string | undefined => {
  const { format, ...data } = asObject(object["data"]);
  const why = unknownFormat(format, plain) ?? unknownKeys(Object.keys(data).filter((key) => !isKnown.test(key)));
  return why === undefined
    ? undefined
    : `the ${what} ${formatRef(place)} was written by a later version of the controller (${why}): upgrade the controller`;
};
