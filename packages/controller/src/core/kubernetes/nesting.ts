// Detects objects that are nested too deep to be processed.
import { MAX_DEPTH } from "@janus/api";
import { isDeeperThan } from "@janus/types";

/** Tells that objects and lists are nested in each other deeper than Janus can handle. */
export const isTooDeep = (value: object): boolean => isDeeperThan(value, MAX_DEPTH + 1);

export const TOO_DEEP = `is nested deeper than ${MAX_DEPTH} levels`;
