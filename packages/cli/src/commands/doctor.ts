import { transactionCrd } from "@janus/api";
import { impersonation, leases, messageOf } from "@janus/controller";
import type { KubeObject, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type Cluster, type ClusterFlags, openCluster } from "../cluster/cluster.ts";
import { compose } from "../manifests/compose.ts";
import { readManifests } from "../manifests/read-manifests.ts";
import { outputTo, painter } from "../output/style.ts";
import { hanging } from "../output/wrap.ts";
import { planProblems } from "../plan/plan-report.ts";
import { runPreview } from "../plan/run-preview.ts";
import { checkCrd, checkDeployment, checkLeader, checkPolicy, type Finding } from "../story/checkup.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface DoctorFlags extends ClusterFlags {
  readonly filename?: string;
  readonly serviceAccount?: string;
  readonly systemNamespace: string;
  readonly deployment: string;
}

const clusterScoped = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: false,
  statusSubresource: false,
});
const crds = clusterScoped("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition");
const ADMISSION = "admissionregistration.k8s.io";
const policies = clusterScoped(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy");
const bindings = clusterScoped(ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding");
const deployments: Resource = { ...clusterScoped("apps", "deployments", "Deployment"), namespaced: true };
const reviews = clusterScoped("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview");

const POLICIES: readonly (readonly [name: string, purpose: string])[] = [
  ["janus-fence", "rejects writes of a stale leader"],
  ["janus-requester", "rejects a Transaction whose author may not impersonate its ServiceAccount"],
  ["janus-controller-limits", "limits what the controller itself can write"],
];

type Looked = { readonly object: KubeObject | undefined } | { readonly unreadable: string };

const look = async ({ api }: Cluster, resource: Resource, name: string, namespace?: string): Promise<Looked> => {
  const there = namespace === undefined ? {} : { namespace };
  const answer = await api.send({ verb: "get", resource, name, ...there });
  if (E.isRight(answer)) return { object: answer.right };
  return answer.left.type === "refused" && answer.left.notFound === "object"
    ? { object: undefined }
    : { unreadable: messageOf(answer.left) };
};

const unread = (what: string, why: string): Finding => ({
  isFine: false,
  what: `${what} cannot be looked at: ${why}`,
  cure: "ask an administrator to run kubectl janus doctor",
});

const checked = (looked: Looked, what: string, check: (object: KubeObject | undefined) => Finding): Finding =>
  "unreadable" in looked ? unread(what, looked.unreadable) : check(looked.object);

const installation = async (
  cluster: Cluster,
  { systemNamespace, deployment }: DoctorFlags,
): Promise<readonly Finding[]> => {
  const [crd, controller, leader, ...found] = await Promise.all([
    look(cluster, crds, "transactions.backup.janus.io"),
    look(cluster, deployments, deployment, systemNamespace),
    look(cluster, leases, "janus-controller-leader", systemNamespace),
    ...POLICIES.flatMap(([name]) => [look(cluster, policies, name), look(cluster, bindings, name)]),
  ]);
  return [
    checked(crd, "the CustomResourceDefinition", (object) => checkCrd(object, transactionCrd)),
    checked(controller, "the Deployment of the controller", (object) =>
      checkDeployment(object, systemNamespace, deployment),
    ),
    checked(leader, "the Lease of the leader", (object) => checkLeader(object, Date.now())),
    ...POLICIES.map(([name, purpose], index) => {
      const [policy = { object: undefined }, binding = { object: undefined }] = found.slice(2 * index);
      return checked(binding, `the binding of ${name}`, (bound) =>
        checked(policy, name, (object) => checkPolicy(name, purpose, object !== undefined, bound !== undefined)),
      );
    }),
  ];
};

/** Whether the user may do this; the verb `impersonate` is about a ServiceAccount. */
const mayUser = async (
  { api, namespace }: Cluster,
  attributes: { readonly verb: string; readonly resource: string; readonly group?: string; readonly name?: string },
): Promise<boolean> => {
  const kind = "SelfSubjectAccessReview";
  const spec = { resourceAttributes: { namespace, ...attributes } };
  const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
  const answer = await api.send({ verb: "create", resource: reviews, body });
  const status = E.isRight(answer) ? answer.right["status"] : undefined;
  return typeof status === "object" && status !== null && Reflect.get(status, "allowed") === true;
};

const finding = (isFine: boolean, what: string, cure: string): Finding => ({
  isFine,
  what,
  ...(isFine ? {} : { cure }),
});

const permissions = async (cluster: Cluster, { serviceAccount }: DoctorFlags): Promise<readonly Finding[]> => {
  const { namespace } = cluster;
  const group = "backup.janus.io";
  const create = await mayUser(cluster, { verb: "create", resource: "transactions", group });
  const creating = finding(
    create,
    `you ${create ? "may" : "may not"} create Transactions in ${namespace}`,
    "the built-in role edit has the permission",
  );
  if (serviceAccount === undefined) return [creating];
  const use = await mayUser(cluster, { verb: "impersonate", resource: "serviceaccounts", name: serviceAccount });
  const using = finding(
    use,
    `you ${use ? "may" : "may not"} use ServiceAccount ${namespace}/${serviceAccount}`,
    "you need the verb impersonate on it; the built-in role edit has that",
  );
  return [creating, using];
};

/** Whether the ServiceAccount may do what a Transaction, or manifests, take. */
const transaction = async (
  cluster: Cluster,
  file: string,
  { serviceAccount }: DoctorFlags,
): Promise<readonly Finding[]> => {
  const composed = compose(
    readManifests([file]),
    cluster.namespace,
    serviceAccount === undefined ? {} : { serviceAccount },
  );
  const previewed = await runPreview(cluster, composed, cluster.namespace);
  const { user } = impersonation(previewed.txn);
  const problems = planProblems(previewed);
  return problems.length === 0
    ? [{ isFine: true, what: `${user} may make and roll back all ${previewed.changes.length} changes of ${file}` }]
    : problems.map((what) => ({ isFine: false, what, cure: `see kubectl janus plan -f ${file}` }));
};

const doctor = async (flags: DoctorFlags): Promise<number> => {
  const cluster = openCluster(flags);
  const output = outputTo(process.stdout);
  const paint = painter(output);
  try {
    const reached = await cluster.api.send({ verb: "raw", path: "/version" });
    if (E.isLeft(reached) && reached.left.type === "unanswered") {
      output.write(`${paint("red", "✘")} ${hanging(`no answer: ${messageOf(reached.left)}`, output.width, 2)}\n`);
      return 1;
    }
    const findings = [
      ...(await installation(cluster, flags)),
      ...(await permissions(cluster, flags)),
      ...(flags.filename === undefined ? [] : await transaction(cluster, flags.filename, flags)),
    ];
    for (const { isFine, what, cure } of findings) {
      output.write(`${isFine ? paint("green", "✔") : paint("red", "✘")} ${hanging(what, output.width, 2)}\n`);
      if (cure !== undefined) output.write(`  ${hanging(`→ ${cure}`, output.width, 4)}\n`);
    }
    return findings.every(({ isFine }) => isFine) ? 0 : 1;
  } finally {
    await cluster.api.close();
  }
};

export const doctorCommand = command("doctor")
  .option("-f, --filename <path>", "also what a Transaction, or manifests, need")
  .option("--service-account <name>", "ServiceAccount to look at; for -f with manifests, too")
  .option("--system-namespace <name>", "namespace of the controller", "janus-system")
  .option("--deployment <name>", "Deployment of the controller", "janus-controller")
  .action((flags: DoctorFlags) => exitWith(doctor(flags)));
