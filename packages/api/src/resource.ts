// The resource of Transactions, as requests name it.
import type { Resource } from "@janus/types";
import { GROUP, KIND, PLURAL, VERSION } from "./names.ts";

export const transactions: Resource = {
  group: GROUP,
  version: VERSION,
  plural: PLURAL,
  kind: KIND,
  namespaced: true,
  statusSubresource: true,
};
