// Reads and formats status.conditions of any object.
import { because } from "./gate-state.ts";
import { objectsAt, textAt } from "./read-fields.ts";

/** One of `status.conditions`, as nearly every kind has them. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export const conditionsOf = (object: unknown): readonly ObjectCondition[] =>
  objectsAt(object, "status", "conditions").map((condition) => ({
    type: textAt(condition, "type"),
    status: textAt(condition, "status"),
    reason: textAt(condition, "reason"),
    message: textAt(condition, "message"),
  }));

/** `condition Ready is False: reason: message` */
export const describeCondition = ({ type, status, reason, message }: ObjectCondition): string =>
  because(`condition ${type} is ${status}`, reason, message);
