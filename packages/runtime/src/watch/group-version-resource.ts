// Names a resource in messages by group, version and plural: a wrong one of them is then seen.
import type { Resource } from "@janus/types";

/** Such as `apps/v1/deployments`, or `v1/configmaps`. */
export const groupVersionResource = ({ group, version, plural }: Resource): string =>
  [...(group === "" ? [] : [group]), version, plural].join("/");
