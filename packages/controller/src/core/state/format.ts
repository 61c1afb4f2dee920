import { cut, FORMAT } from "@janus/api";
import { asObject } from "../kubernetes/json.ts";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import type { KubeObject } from "@janus/types";

/** How many keys are named that are not known. */
const FEW = 3;

export const isLaterFormat = (format: unknown): boolean => typeof format === "number" && format > FORMAT;

const unknownFormat = (written: unknown, plain: (text: string) => string | undefined): string | undefined => {
  if (written === undefined) return undefined;
  const format = typeof written === "string" ? plain(written) : undefined;
  if (format === undefined || !/^[1-9]\d{0,8}$/u.test(format)) return "in a format that this one does not know";
  return isLaterFormat(Number(format)) ? `format ${format}; this one knows ${FORMAT}` : undefined;
};

const unknownKeys = (keys: readonly string[]): string | undefined =>
  keys.length === 0
    ? undefined
    : `with ${cut(keys.slice(0, FEW).join(", "), 200)}${keys.length > FEW ? ", …" : ""}, which this one does not know`;

/**
 * Why an object that records something is left alone: a later version of the controller wrote it. Its data says under `format`
 * in which format it is; absent: 1.
 *
 * @param what it is
 * @param isKnown every key of the formats that are known
 * @param plain what a value in its data says
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
