// Detects data of a later version of the controller.
import { cut, FORMAT } from "@janus/api";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import { asObject, type JsonObject, type KubeObject } from "@janus/types";

/** How many unknown parts are named. */
const FEW = 3;

export const isLaterFormat = (format: unknown): boolean => typeof format === "number" && format > FORMAT;

const unknownFormat = (written: unknown, plain: (text: string) => string | undefined): string | undefined => {
  if (written === undefined) return undefined;
  const format = typeof written === "string" ? plain(written) : undefined;
  if (format === undefined || !/^[1-9]\d{0,8}$/u.test(format)) return "in a format that this version does not know";
  return isLaterFormat(Number(format)) ? `format ${format}; this version knows ${FORMAT}` : undefined;
};

const unknownParts = (parts: readonly string[]): string | undefined =>
  parts.length === 0
    ? undefined
    : `with ${cut(parts.slice(0, FEW).join(", "), 200)}${parts.length > FEW ? ", …" : ""}, which this version does not know`;

/** The keys that match none of the known formats. */
export const unknownKeys = (data: JsonObject, isKnown: RegExp): readonly string[] =>
  Object.keys(data).filter((key) => !isKnown.test(key));

/**
 * Why a journal or snapshot is not modified: a later version of the controller wrote it. Its data has the format
 * under `format`; absent: 1.
 *
 * @param what it is
 * @param unknownIn the parts of its data that the known formats do not have
 * @param plain decodes a value of its data
 */
export const ofLater = (
  what: string,
  place: ObjectRef,
  object: KubeObject,
  unknownIn: (data: JsonObject) => readonly string[],
  plain: (text: string) => string | undefined = (text) => text,
): string | undefined => {
  const { format, ...data } = asObject(object["data"]);
  const why = unknownFormat(format, plain) ?? unknownParts(unknownIn(data));
  return why === undefined
    ? undefined
    : `the ${what} ${formatRef(place)} was written by a later version of the controller (${why}): upgrade the controller`;
};
