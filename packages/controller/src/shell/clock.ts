import type { Instant } from "../core/index.ts";

/** The wall clock as it stood when the process began, and from then on a clock that is never set back. */
export const now = (): Instant => performance.timeOrigin + performance.now();
