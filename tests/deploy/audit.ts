import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

/** One request, as the API server wrote it down. */
interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly objectRef?: { readonly apiGroup?: string; readonly resource: string; readonly subresource?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Flags of an API server that writes down, in this directory, what each user asks for. */
export const auditFlags = async (directory: string): Promise<readonly string[]> => {
  const policy = path.join(directory, "audit-policy.json");
  const rules = [{ level: "Metadata", omitStages: ["RequestReceived"] }];
  await writeFile(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${path.join(directory, "audit.log")}`];
};

/** Of the annotations that say what was decided, and why. */
const decision = "authorization.k8s.io";

/** `verb resource/subresource.group`, as in a rule of RBAC. */
const rightOf = ({ verb, objectRef }: AuditEvent): string => {
  const { apiGroup = "", resource = "", subresource } = objectRef ?? {};
  const whole = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${whole}${apiGroup === "" ? "" : `.${apiGroup}`}`;
};

/** As another client: one right for the user, and one for each extra that comes with it. */
const rightsToBe = ({ impersonatedUser }: AuditEvent): readonly string[] => [
  "impersonate serviceaccounts",
  ...Object.keys(impersonatedUser?.extra ?? {}).map((key) => `impersonate userextras/${key}.authentication.k8s.io`),
];

/** What a user has asked for so far. */
export interface Asked {
  /** The rights that roles of its own gave it, and those to be another client; not what everybody may, such as ask who they are. */
  readonly used: ReadonlySet<string>;
  /** The rights that it did not have, as itself. */
  readonly lacked: readonly string[];
}

/** Roles of its own are those named `role`. */
export const askedBy = async (directory: string, username: string, role: string): Promise<Asked> => {
  const log = await readFile(path.join(directory, "audit.log"), "utf8");
  const events = log
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user }) => user.username === username);
  const own = events.filter(({ impersonatedUser }) => impersonatedUser === undefined);
  const others = events.filter(({ impersonatedUser }) => impersonatedUser !== undefined);
  const given = own.filter(
    ({ annotations }) => annotations?.[`${decision}/reason`]?.includes(`Role "${role}`) ?? false,
  );
  return {
    used: new Set([...given.map(rightOf), ...others.flatMap(rightsToBe)]),
    lacked: own.filter(({ annotations }) => annotations?.[`${decision}/decision`] === "forbid").map(rightOf),
  };
};
