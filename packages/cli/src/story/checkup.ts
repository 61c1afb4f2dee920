// Checks the installed CRD, the leader's Lease, the Deployment and the admission policies.
import type { JsonObject } from "@janus/api";
import { asObject } from "@janus/types";

/** One thing that has to be so. */
export interface Finding {
  readonly isFine: boolean;
  /** The user may not look: nothing is known to be wrong. Default: false. */
  readonly isUnseen?: true;
  readonly what: string;
  /** The remedy, where it is not fine. */
  readonly cure?: string;
}

/** Fields of a schema by path, such as `spec.changes.waitFor`. */
const fieldsOf = (schema: unknown, path = ""): readonly string[] => {
  const { properties, items } = asObject(schema);
  if (items !== undefined) return fieldsOf(items, path);
  return Object.entries(asObject(properties)).flatMap(([name, field]) => {
    const there = path === "" ? name : `${path}.${name}`;
    return [there, ...fieldsOf(field, there)];
  });
};

const schemaOf = (crd: unknown): unknown => {
  const { versions } = asObject(asObject(crd)["spec"]);
  const [first] = Array.isArray(versions) ? versions : [];
  return asObject(asObject(first)["schema"])["openAPIV3Schema"];
};

/** Whether the installed CustomResourceDefinition stays, and has every field that this version knows. */
export const checkCrd = (installed: object | undefined, known: JsonObject): Finding => {
  if (installed === undefined)
    return {
      isFine: false,
      what: "the CustomResourceDefinition is not installed",
      cure: "install Janus: docs/install.md",
    };
  if (asObject(asObject(installed)["metadata"])["deletionTimestamp"] !== undefined)
    return {
      isFine: false,
      what: "the CustomResourceDefinition is being deleted, with all Transactions",
      cure: "when it is gone, install Janus again: docs/install.md",
    };
  const there = new Set(fieldsOf(schemaOf(installed)));
  const missing = fieldsOf(schemaOf(known)).filter((field) => field.startsWith("spec") && !there.has(field));
  return missing.length === 0
    ? { isFine: true, what: "the CustomResourceDefinition has every field of this version" }
    : {
        isFine: false,
        what: `the CustomResourceDefinition has no ${missing.join(", ")}`,
        cure: "upgrade the installation: docs/upgrade.md",
      };
};

/** Whether a controller leads, by its Lease. */
export const checkLeader = (lease: object | undefined, now: number): Finding => {
  const spec = asObject(asObject(lease)["spec"]);
  const { holderIdentity, renewTime, leaseDurationSeconds } = spec;
  if (typeof holderIdentity !== "string" || holderIdentity === "")
    return { isFine: false, what: "no controller leads", cure: "look at the Pods of the controller, and at their log" };
  const age = (now - Date.parse(typeof renewTime === "string" ? renewTime : "")) / 1000;
  const isFresh = age <= Number(leaseDurationSeconds) * 2;
  return isFresh
    ? { isFine: true, what: `${holderIdentity} leads` }
    : {
        isFine: false,
        what: `the leader ${holderIdentity} has not renewed its Lease for ${Math.round(age)} s`,
        cure: "look at the Pods of the controller, and at their log; or the clock of this machine is wrong",
      };
};

/** Whether the Deployment of the controller has ready Pods. */
export const checkDeployment = (deployment: object | undefined, namespace: string, name: string): Finding => {
  if (deployment === undefined)
    return {
      isFine: false,
      what: `there is no Deployment ${namespace}/${name}`,
      cure: "if it has another name or namespace: --system-namespace and --deployment",
    };
  const { readyReplicas = 0 } = asObject(asObject(deployment)["status"]);
  const { replicas = 1 } = asObject(asObject(deployment)["spec"]);
  const what = `${Number(readyReplicas)} of ${Number(replicas)} controllers are ready`;
  return Number(readyReplicas) > 0
    ? { isFine: true, what }
    : { isFine: false, what, cure: `kubectl describe deployment ${name} -n ${namespace}` };
};

/** Whether an admission policy and its binding are installed. */
export const checkPolicy = (name: string, purpose: string, policy: boolean, binding: boolean): Finding =>
  policy && binding
    ? { isFine: true, what: `${name}: ${purpose}` }
    : {
        isFine: false,
        what: `${name}: the ValidatingAdmissionPolicy${policy ? "Binding" : ""} is missing (${purpose})`,
        cure: "install it again: docs/install.md",
      };

/** Reports who writes the names of users on Transactions. Both are sound. @param stamps the MutatingAdmissionPolicy */
export const checkStamps = (stamps: object | undefined): Finding => ({
  isFine: true,
  what:
    stamps === undefined
      ? "who requested, edited and approved a Transaction is written by clients, and compared (stampsUsers is not set)"
      : "who requested, edited and approved a Transaction is recorded by the API server (stampsUsers)",
});
