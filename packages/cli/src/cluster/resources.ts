// The resources that are read beside Transactions and their targets.
import type { Resource } from "@janus/kube";

const builtIn = (group: string, plural: string, kind: string, namespaced: boolean): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced,
  statusSubresource: false,
});

const ADMISSION = "admissionregistration.k8s.io";
const REVIEWS = "authorization.k8s.io";

/** The kinds that are read beside Transactions and their targets. */
export const events = builtIn("", "events", "Event", true);
export const deployments = builtIn("apps", "deployments", "Deployment", true);
export const endpointSlices = builtIn("discovery.k8s.io", "endpointslices", "EndpointSlice", true);
export const crds = builtIn("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", false);
export const policies = builtIn(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy", false);
export const webhooks = builtIn(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false);
export const bindings = builtIn(
  ADMISSION,
  "validatingadmissionpolicybindings",
  "ValidatingAdmissionPolicyBinding",
  false,
);
export const mutatingPolicies = builtIn(ADMISSION, "mutatingadmissionpolicies", "MutatingAdmissionPolicy", false);
export const accessReviews = builtIn(REVIEWS, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false);
export const selfReviews = builtIn("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", false);
