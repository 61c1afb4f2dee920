// The rollback of ten Patches, whose last one is refused when it is made and not before, against the commit of ten.
import { configMaps, namespaces, type Resource } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { must } from "../../load/world.ts";
import { timed } from "../figures.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";
import type { Controllers } from "./controllers.ts";
import { configMap, namesOf, patch } from "./objects.ts";
import type { Scenario, Side } from "./scenario.ts";

const CHANGES = 10;
const REFUSED = "refused";
const NAME = "bench.janus.io-refused";
const MESSAGE = "refused for real";

const policies: Resource = {
  ...namespaces,
  group: "admissionregistration.k8s.io",
  plural: "validatingadmissionpolicies",
  kind: "ValidatingAdmissionPolicy",
};
const bindings: Resource = {
  ...policies,
  plural: "validatingadmissionpolicybindings",
  kind: "ValidatingAdmissionPolicyBinding",
};

/** It concerns one ConfigMap alone: other writes do not pay for it. */
const POLICY = {
  matchConstraints: {
    resourceRules: [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: ["UPDATE"],
        resources: ["configmaps"],
        resourceNames: [REFUSED],
      },
    ],
  },
  validations: [{ expression: "request.dryRun", message: MESSAGE }],
};

/** Resolves when the ConfigMap is there, and the API server refuses every write of it but for dry runs. */
const refuse = async ({ api }: Cluster): Promise<void> => {
  const at = { resource: configMaps, namespace: NAMESPACE };
  const by = { fieldManager: "bench", force: true };
  must(await api.send({ verb: "apply", ...at, name: REFUSED, body: configMap(REFUSED, "old"), ...by }));
  for (const [resource, spec] of [
    [policies, POLICY],
    [bindings, { policyName: NAME, validationActions: ["Deny"] }],
  ] as const) {
    const body = { apiVersion: "admissionregistration.k8s.io/v1", kind: resource.kind, metadata: { name: NAME }, spec };
    must(await api.send({ verb: "apply", resource, name: NAME, body, ...by }));
  }
  for (let n = 0; ; n += 1) {
    const body = { data: { value: `tried ${n}` } };
    const answer = await api.send({ verb: "mergePatch", ...at, name: REFUSED, body });
    if (E.isLeft(answer) && answer.left.message.includes(MESSAGE)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

export const ROLLBACK = "ten Patches, the last one refused";

export const rollback = (cluster: Cluster, { running }: Controllers): Scenario => {
  const side =
    (phase: "Committed" | "RolledBack"): Side =>
    async (round) => {
      await running();
      await cluster.haveTargets("janus", CHANGES);
      if (phase === "RolledBack" && round === 0) await refuse(cluster);
      const name = `${phase.toLowerCase()}-${round}`;
      const targets = namesOf("janus", CHANGES);
      const changed = phase === "RolledBack" ? [...targets.slice(1), REFUSED] : targets;
      const changes = changed.map((target) => patch(target, name));
      const ms = await timed(() => cluster.reach(phase, name, changes));
      await cluster.over([name]);
      return { ms };
    };
  return { name: ROLLBACK, rounds: [3, 9], sides: { rollback: side("RolledBack"), commit: side("Committed") } };
};
