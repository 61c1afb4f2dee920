import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Admin } from "./admin.ts";
import type { Expectations } from "./expectations.ts";
import type { Replicas } from "./replicas.ts";

/** What every part of the demo plays on. */
export interface Stage {
  /** Its directory is gone in the end. */
  readonly controlPlane: ControlPlane;
  readonly admin: Admin;
  readonly replicas: Replicas;
  readonly expectations: Expectations;
}
