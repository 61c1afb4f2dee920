// The binding that makes a ValidatingAdmissionPolicy deny.
import { k8s } from "cdk8s-plus-30";
import type { Construct } from "constructs";

/**
 * The binding of a ValidatingAdmissionPolicy: what fails it is denied. Without a binding, a policy has no effect.
 *
 * @param metadata that of the policy
 */
export const denyByPolicy = (
  policy: Construct,
  metadata: k8s.ObjectMeta & { readonly name: string },
  paramRef?: k8s.ParamRef,
): k8s.KubeValidatingAdmissionPolicyBinding =>
  new k8s.KubeValidatingAdmissionPolicyBinding(policy, "Binding", {
    metadata,
    spec: { policyName: metadata.name, validationActions: ["Deny"], ...(paramRef === undefined ? {} : { paramRef }) },
  });
