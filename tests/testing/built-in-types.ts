import { kubectl } from "../fixtures/cluster.ts";

/** A schema of the OpenAPI document of the API server. https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3 */
interface Schema {
  readonly type?: string;
  readonly default?: unknown;
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

const read = async <A>(path: string): Promise<A> => {
  const { stdout, stderr, code } = await kubectl("get", "--raw", path);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as A;
};

const PREFIX = /^io\.k8s\.(api|apimachinery\.pkg\.apis)\./;

const refOf = ({ $ref, allOf = [] }: Schema): string | undefined =>
  ($ref ?? allOf.find(({ $ref }) => $ref !== undefined)?.$ref)?.split("/").at(-1);

/** How a field is merged, in the notation of `field-type.ts`; `undefined` where its value alone tells. */
const typeOf = (schemas: Readonly<Record<string, Schema>>, field: Schema): string | undefined => {
  const ref = refOf(field);
  const target = ref === undefined ? field : (schemas[ref] ?? {});
  if ((field["x-kubernetes-map-type"] ?? target["x-kubernetes-map-type"]) === "atomic") return "=";
  if (ref !== undefined && target.properties !== undefined)
    return `${ref.replace(PREFIX, "")}${field.default === undefined ? "" : "!"}`;
  if (target.additionalProperties !== undefined) return `{${typeOf(schemas, target.additionalProperties) ?? ""}}`;
  const items = target.items ?? {};
  if (target["x-kubernetes-list-type"] === "set") return "<>";
  if (target["x-kubernetes-list-type"] !== "map") return undefined;
  const { properties = {} } = schemas[refOf(items) ?? ""] ?? {};
  const keys = (target["x-kubernetes-list-map-keys"] ?? []).map((key) => {
    const fallback = properties[key]?.default;
    return typeof fallback === "string" && fallback !== "" ? `${key}=${fallback}` : key;
  });
  return `<${keys.join()}>${(typeOf(schemas, items) ?? "").replace("!", "")}`;
};

const named = (type: string): readonly string[] => type.match(/[\w.-]+\.[A-Z]\w*/g) ?? [];

const byName = <A>(entries: Iterable<readonly [string, A]>): Readonly<Record<string, A>> =>
  Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)));

/**
 * The text of `packages/testing/src/api-server/built-in-types.ts`: which kinds this API server has of its own, and how it
 * merges their fields.
 */
export const builtInTypes = async (): Promise<string> => {
  const { paths } = await read<{
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  }>("/openapi/v3");
  const { items } = await read<{ readonly items: readonly { readonly spec: { readonly group: string } }[] }>(
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  );
  // Other suites define kinds meanwhile, some of them in groups of Kubernetes.
  const defined = new Set(items.map(({ spec }) => `apis/${spec.group}`));
  const groups = Object.keys(paths).filter(
    (path) => /^(api|apis\/[^/]+)\/v\w+$/.test(path) && !defined.has(path.slice(0, path.lastIndexOf("/"))),
  );
  const kinds = new Map<string, { readonly resource: string; readonly type: string }>();
  const types = new Map<string, Readonly<Record<string, string>>>();
  for (const path of groups.filter((path) => /^api\/|^apis\/([^/.]+|[^/]+\.k8s\.io)\//.test(path))) {
    const { components } = await read<Document>(paths[path]?.serverRelativeURL ?? "");
    const schemas = components?.schemas ?? {};
    const { resources } = await read<{ readonly resources: readonly ApiResource[] }>(`/${path}`);
    const names = new Set(resources.map(({ name }) => name));
    const [version = "", group = ""] = path.split("/").toReversed();
    const apiVersion = path.startsWith("api/") ? version : `${group}/${version}`;
    const left: string[] = [];
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes("/") || kinds.has(`${apiVersion} ${kind}`)) continue;
      const type = Object.entries(schemas).find(([, schema]) =>
        schema["x-kubernetes-group-version-kind"]?.some(
          (one) => one.kind === kind && one.version === version && one.group === (group === "api" ? "" : group),
        ),
      )?.[0];
      const flags = [
        ...(namespaced ? ["namespaced"] : []),
        ...(names.has(`${name}/status`) ? ["status"] : []),
        ...(verbs.includes("get") && verbs.includes("create") ? [] : ["virtual"]),
      ];
      kinds.set(`${apiVersion} ${kind}`, {
        resource: [name, ...flags].join(" "),
        type: type?.replace(PREFIX, "") ?? "",
      });
      if (type !== undefined) left.push(type);
    }
    for (const name of left) {
      const short = name.replace(PREFIX, "");
      if (types.has(short)) continue;
      const fields = Object.entries(schemas[name]?.properties ?? {}).flatMap(([field, schema]) => {
        const type = typeOf(schemas, schema);
        return type === undefined ? [] : [[field, type] as const];
      });
      types.set(short, byName(fields));
      const below = new Set(fields.flatMap(([, type]) => named(type)));
      left.push(...Object.keys(schemas).filter((other) => below.has(other.replace(PREFIX, ""))));
    }
  }
  return [
    "// Generated from the OpenAPI documents of the API server by tests/testing/built-in-types.test.ts: `vitest -u` renews it.",
    "",
    "/** Kinds by apiVersion and kind: the plural, then what is true of it; and the type of its objects. */",
    `export const BUILT_IN_KINDS: Readonly<Record<string, { readonly resource: string; readonly type: string }>> = ${print(byName(kinds))};`,
    "",
    "/** Fields by type and name: how each is merged, in the notation of `field-type.ts`. */",
    `export const BUILT_IN_TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = ${print(byName([...types].filter(([, fields]) => Object.keys(fields).length > 0)))};`,
    "",
  ].join("\n");
};

/** An entry a line. */
const print = (entries: Readonly<Record<string, unknown>>): string =>
  `{\n${Object.entries(entries)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`)
    .join("")}}`;
