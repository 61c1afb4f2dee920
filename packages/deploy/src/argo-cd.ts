// The ConfigMap patch with Argo CD's health check and actions for Transactions.
import { readFileSync } from "node:fs";
import path from "node:path";
import { GROUP, KIND } from "@janus/api";
import { Yaml } from "cdk8s";
import type { Manifest } from "./render.ts";

const ACTIONS = ["request-rollback", "retry-rollback"] as const;

/** Lua is written in files of its own, laid out as those that Argo CD brings along. */
const lua = (file: string): string =>
  readFileSync(path.resolve(import.meta.dirname, "../../../deploy/argocd", file), "utf8");

/**
 * What Argo CD has to know of Transactions: a patch of its ConfigMap with the health check and the actions.
 *
 * Throws: outside this repository, where the Lua is not found.
 */
export const argoCdConfig = (): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "argocd-cm", namespace: "argocd" },
  data: {
    [`resource.customizations.health.${GROUP}_${KIND}`]: lua("health.lua"),
    [`resource.customizations.actions.${GROUP}_${KIND}`]: Yaml.stringify({
      "discovery.lua": lua("actions/discovery.lua"),
      definitions: ACTIONS.map((name) => ({ name, "action.lua": lua(`actions/${name}/action.lua`) })),
    }),
  },
});
