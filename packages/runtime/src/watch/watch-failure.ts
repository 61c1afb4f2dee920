// Reports that objects cannot be watched: which resource that is, by group, version and plural, and why.
import { type ApiError, messageOf, type Resource } from "@janus/types";
import type { Log } from "../process/log.ts";

/** Reports a failure, unless it is the end of the process that ends the watch. */
export const reportWatchFailure =
  (log: Log, objects: string, { group, version, plural }: Resource) =>
  (error: ApiError): void => {
    if (error.type === "unanswered" && error.cause === "aborted") return;
    const resource = [...(group === "" ? [] : [group]), version, plural].join("/");
    log("warn", `${objects} cannot be watched; trying again`, { resource, error: messageOf(error) });
  };
