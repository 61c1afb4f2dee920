// Generates the reference page of the functions of Blueprints from their tables of arguments.
import { type Access, functionNames, functionOf } from "@janus/blueprints/core";

const TYPES: Readonly<Record<string, string>> = {
  text: "text",
  content: "text; may depend on a Secret",
  texts: "list of text",
  words: "list of text; may depend on a Secret",
  integer: "integer",
  boolean: "true or false",
  map: "map of text",
  object: "object",
};

const cell = (text: string): string => text.replaceAll("|", String.raw`\|`).replaceAll("<", "&lt;");

/** `pods`: create, get. */
const permissionsOf = (accesses: readonly Access[]): string => {
  const verbs = new Map<string, readonly string[]>();
  for (const { verb, group, resource, subresource } of accesses) {
    const name = `${resource}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
    verbs.set(name, [...(verbs.get(name) ?? []), verb]);
  }
  return verbs.size === 0
    ? "those for what it does with the objects that its arguments name"
    : [...verbs].map(([name, all]) => `\`${name}\`: ${all.join(", ")}`).join("; ");
};

const section = (name: string): readonly string[] => {
  const found = functionOf(name);
  if (found === undefined) return [];
  const { about, args, outputs, access } = found;
  // A workload is a Deployment, where it may be of several kinds.
  const any = Object.fromEntries(
    Object.entries(args)
      .filter(([, { type }]) => type === "text" || type === "content")
      .map(([arg]) => [arg, arg === "kind" ? "Deployment" : arg]),
  );
  return [
    `## ${name}`,
    "",
    about,
    "",
    "| Argument | Type | Description |",
    "|---|---|---|",
    ...Object.entries(args).map(
      ([arg, { type, isRequired, about: said }]) =>
        `| \`${arg}\` | ${TYPES[type] ?? type} | ${isRequired === true ? "**Required.** " : ""}${cell(said)} |`,
    ),
    "",
    `- Output: ${outputs}`,
    `- Permissions: ${permissionsOf(access(any, "own"))}.`,
    "",
  ];
};

/** The page of all functions. */
export const functionReference = (): string =>
  [
    "<!-- Printed from packages/blueprints/src/core/functions: change it there, and run `npm run reference:write`. -->",
    "",
    "# Reference of the functions of Blueprints",
    "",
    "What `func` of a phase may be, with the arguments in its `args`; what a phase is: [Blueprints](../blueprints.md). Names, arguments",
    "and outputs are Kanister's.",
    "",
    "- Each text of `args` is a [template](templates.md). It is rendered when the phase begins.",
    '- Texts are read as what is asked for: `"3"` is 3, `"true"` is true, and a single text is a list of one.',
    "- An argument that a function does not have, or a required one that is missing, is told before anything runs.",
    "- A value that depends on a Secret is refused where the table does not say that it may.",
    "- The permissions are those that the ServiceAccount of the ActionSet needs; of a workload, those for a Deployment. What can be known",
    "  of them is checked before anything runs.",
    "",
    ...functionNames.flatMap(section),
  ].join("\n");
