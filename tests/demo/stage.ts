import type { Admin } from "./admin.ts";
import type { Expectations } from "./expectations.ts";
import type { Replicas } from "./replicas.ts";

/** What every part of the demo plays on. */
export interface Stage {
  readonly admin: Admin;
  readonly replicas: Replicas;
  readonly expectations: Expectations;
  /** A directory that is gone in the end. */
  readonly directory: string;
  /** Of the administrator. */
  readonly kubeconfig: string;
}
