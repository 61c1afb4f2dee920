// Accepts a cdk8s Duration or a Go duration string, and writes the latter.
import { formatDuration } from "@janus/api";
import type { Duration } from "cdk8s";

/** A length of time: a Duration of cdk8s, or text such as `30s`, `10m` or `1h30m`; at least a second. */
export type Time = Duration | string;

export const written = (time: Time): string =>
  typeof time === "string" ? time : formatDuration(time.toMilliseconds({ integral: false }));
