// Names that the controller, its installation and the command line have to agree on.

import { GROUP } from "./names.ts";

/** The default namespace of the controller. */
export const SYSTEM_NAMESPACE = "janus-system";

/** Name of the controller's Deployment, ServiceAccount, ClusterRole and ClusterRoleBinding. */
export const CONTROLLER_NAME = "janus-controller";

/** The Lease of the leader among the controllers, in the controller's namespace. */
export const LEADER_LEASE = "janus-controller-leader";

/** Defaults of leader election, in seconds. */
export const LEADER_ELECTION = { leaseDuration: 30, renewDeadline: 20, retryPeriod: 5 } as const;

/** The default timeout of a write on the API server, in seconds. */
export const WRITE_TIMEOUT = 5;

/** Label of the leader's Pod. */
export const LEADER_LABEL = `${GROUP}/leader`;

/** The component that sends events. */
export const REPORTING_COMPONENT = `${GROUP}/controller`;

/** The user extra with the token of the leader's term, which the fence compares. */
export const FENCE_KEY = "janus.io/fence";

/** The Lease of which the leader creates an old term, by dry run, to see whether the fence rejects it. */
export const FENCE_CHECK = "janus-fence-check";

/** The names of the admission policies and their bindings. */
export const POLICIES = {
  fence: "janus-fence",
  requester: "janus-requester",
  stamps: "janus-stamps",
  approval: "janus-approval",
  controllerLimits: "janus-controller-limits",
} as const;
