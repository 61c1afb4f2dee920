// An admission webhook that is slow or refuses: a neighbour makes trouble for others with it.
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Api, Resource } from "@janus/kube";
import { createAuthority, issue } from "../control-plane/certificates.ts";
import { create } from "../load/world.ts";

const webhooks: Resource = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: "validatingwebhookconfigurations",
  kind: "ValidatingWebhookConfiguration",
  namespaced: false,
  statusSubresource: false,
};

/** What a webhook says, and after how many ms. */
export interface Verdict {
  readonly after: number;
  readonly response: object;
}

/**
 * A webhook on what is written to ConfigMaps of a namespace, such as a cluster may have; authors write what it is slow with.
 *
 * @returns ends it
 */
export const webhook = async (
  admin: Api,
  namespace: string,
  { after, response }: Verdict,
): Promise<() => Promise<void>> => {
  const authority = await createAuthority();
  const { certificate, key } = await issue(authority, { name: "webhook", hosts: ["127.0.0.1"] });
  const server = createServer({ cert: certificate, key }, (asked, reply) => {
    let body = "";
    asked.on("data", (chunk: Buffer) => (body += chunk.toString()));
    asked.on("end", () => {
      const { request } = JSON.parse(body) as { readonly request: { readonly uid: string } };
      const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
      const answer = JSON.stringify({ ...review, response: { uid: request.uid, ...response } });
      setTimeout(() => reply.setHeader("content-type", "application/json").end(answer), after);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await create(admin, webhooks, "", {
    metadata: { name: namespace },
    webhooks: [
      {
        name: "slow.example.com",
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(authority.certificate).toString("base64"),
        },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"], scope: "*" }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        // The journal and the snapshots of Transactions are theirs no less than the targets.
        failurePolicy: "Fail",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 30,
      },
    ],
  });
  return async () => {
    await admin.send({ verb: "delete", resource: webhooks, name: namespace });
    server.closeAllConnections();
    server.close();
  };
};
