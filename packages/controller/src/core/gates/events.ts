// Selects and formats Events that explain why an object is not ready.
import { cut } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { because } from "./gate-state.ts";
import { textAt } from "./read-fields.ts";

/** The most bytes of a controller's message, which may be long. */
const MAX_MESSAGE = 256;

/** When it was seen last; times of both forms sort as text. */
const seenAt = (event: KubeObject): string =>
  [textAt(event, "lastTimestamp"), textAt(event, "series", "lastObservedTime"), textAt(event, "eventTime")]
    .map((time) => time.slice(0, "2026-01-01T12:00:00".length))
    .reduce((a, b) => (a < b ? b : a));

/** The latest of these Events; of a second, the last one. */
export const latestEvent = (events: readonly KubeObject[]): KubeObject | undefined =>
  events.reduce<KubeObject | undefined>(
    (last, event) => (last === undefined || seenAt(last) <= seenAt(event) ? event : last),
    undefined,
  );

export const warningsIn = (events: readonly KubeObject[]): readonly KubeObject[] =>
  events.filter((event) => textAt(event, "type") === "Warning");

/** `FailedMount: MountVolume.SetUp failed for volume "cert": secret "admission" not found` */
export const describeEvent = (event: KubeObject): string =>
  because(textAt(event, "reason"), cut(textAt(event, "message"), MAX_MESSAGE));
