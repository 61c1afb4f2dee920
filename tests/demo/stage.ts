import type { Admin } from "./admin.ts";
import type { ControllerProcess } from "./controller-process.ts";
import type { Expectations } from "./expectations.ts";

/** What every part of the demo plays on. */
export interface Stage {
  readonly admin: Admin;
  readonly controller: ControllerProcess;
  readonly expectations: Expectations;
}
