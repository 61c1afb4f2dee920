// Says what to do where a template takes from the object of the action what that does not have.
import type { Value } from "@janus/gotemplate";

/** The parameters of which there is one at most, by the kind of the object. */
export const SUBJECTS = ["StatefulSet", "Deployment", "DeploymentConfig", "PVC", "Namespace"];

const SUBJECT = new RegExp(String.raw`\.(${SUBJECTS.join("|")})\.(\w+)`, "u");

const subjectIn = (data: Value): string | undefined =>
  data.is === "struct"
    ? data.type.fields.find(({ name }, at) => SUBJECTS.includes(name) && data.fields[at]?.is === "struct")?.name
    : undefined;

/** The field that the object of the action has in its place. */
const instead = (asked: string, field: string, there: string | undefined): string => {
  if (there !== undefined) return `use .${there}.${asked === "Namespace" ? "Namespace" : field}`;
  return `use .Object.metadata.${asked === "Namespace" || field === "Namespace" ? "namespace" : "name"}`;
};

/**
 * @param message what is wrong; expression: the part of the template that it is about; data: what the template sees
 * @returns "" where the message is enough
 */
export const templateHint = (message: string, expression: string, data: Value): string => {
  const [, asked = "", field = ""] = SUBJECT.exec(expression) ?? [];
  if (asked === "") return "";
  if (message.endsWith(`nothing is there to take ${field} of`))
    return `; .${asked} is there only for actions on a ${asked}: here ${instead(asked, field, subjectIn(data))}`;
  return /index out of range: \d+$/u.test(message) && field === "Pods"
    ? `; .${asked}.Pods are those that run: scale it up, or wait until they do`
    : "";
};
