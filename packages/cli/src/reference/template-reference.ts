// Generates the reference page of the templates of Blueprints: parameters, functions, and what is refused.
import { functionGroups, refusedFunctions } from "@janus/blueprints/core";

/** What a template may name, with what it is. */
export const PARAMETERS: readonly (readonly [name: string, about: string])[] = [
  [
    "StatefulSet",
    "of an action on a StatefulSet: `.Name`, `.Namespace`, `.Pods` (those that run), `.Containers` (a list for each Pod), `.PersistentVolumeClaims` (Pod → claim → mount path)",
  ],
  ["Deployment", "the same of a Deployment"],
  ["DeploymentConfig", "the same of a DeploymentConfig of OpenShift"],
  ["PVC", "of an action on a PersistentVolumeClaim: `.Name`, `.Namespace`"],
  ["Namespace", "of an action on a Namespace: `.Name` and `.Namespace`, both the namespace"],
  ["Object", "the object of the action as JSON: `.Object.metadata.name`. Lower-case names, unlike all others"],
  ["ArtifactsIn", "`artifacts` of the action: `.ArtifactsIn.backup.KeyValue.path`, `.KopiaSnapshot`"],
  ["ArtifactsOut", "empty; older blueprints name it"],
  [
    "ConfigMaps",
    "`configMaps` of the action, by their names there: `.ConfigMaps.location.Data.bucket` is text; `.Name`, `.Namespace`, `.Labels`, `.Annotations`",
  ],
  [
    "Secrets",
    "`secrets` of the action: `.Secrets.db.Data.password` is bytes: pipe it to `toString`; `.Type`, and the same as above",
  ],
  ["Time", "when the ActionSet began, in RFC 3339. A restart does not change it"],
  [
    "Profile",
    "the Profile of the action: `.Location` (`.Type`, `.Bucket`, `.Endpoint`, `.Prefix`, `.Region`), `.Credential` (`.Type`, `.KeyPair.ID`, `.KeyPair.Secret`, `.Secret`, `.KopiaServerSecret`), `.SkipSSLVerify`. `toJson .Profile` is what `kando` reads",
  ],
  ["Options", "`options` of the action: `.Options.level`"],
  ["CurrentPhase", "the name of the phase"],
  [
    "Phases",
    "phases that have begun: `.Phases.dump.Output.backupID` once it is done, `.Secrets` and `.ConfigMaps` of its `objects`",
  ],
  ["DeferPhase", "the same of the deferPhase. Its output is there for artifacts"],
  ["PodOverride", "`podOverride` of the action"],
  ["PodLabels", "`podLabels` of the action"],
  ["PodAnnotations", "`podAnnotations` of the action"],
];

/** The names of functions, each in its own code. */
const names = (all: readonly string[]): string =>
  all
    .toSorted()
    .map((name) => `\`${name}\``)
    .join(" · ");

const refusals = (): readonly string[] => {
  const reasons = [...new Set(Object.values(refusedFunctions))];
  return reasons.map(
    (why) => `| ${names(Object.keys(refusedFunctions).filter((name) => refusedFunctions[name] === why))} | ${why} |`,
  );
};

/** The page of templates. */
export const templateReference = (): string =>
  [
    "<!-- Printed from packages/gotemplate and packages/cli/src/reference: change it there, and run `npm run reference:write`. -->",
    "",
    "# Reference of the templates of Blueprints",
    "",
    "Each text in `args`, `objects` and `outputArtifacts` is a [template of Go](https://pkg.go.dev/text/template) with the text functions",
    "of [sprig](https://masterminds.github.io/sprig/) 2.22, as in Kanister.",
    "",
    "- Each text is rendered alone: a block such as `{{ if }}` cannot reach from one item of a list into the next. Keys of maps are",
    "  rendered, too; numbers and booleans are left as they are.",
    '- A name that is not there is an error, which names the argument: `phase dump: args.command[2]: … "backupID" not found`.',
    "- What makes something new each time (`now`, `uuidv4`, `randAlphaNum`) gives the same for as long as a phase is executed, over",
    "  restarts, too.",
    "- What a template makes of a value of a Secret is [kept out of all that can be read](../blueprints.md#secrets).",
    "- A template may take 100,000 steps and make 1 MiB of text.",
    "- The `condition` of `Wait` is none of these: `{$.path}` in it is replaced by the value at that path of the object, and what comes of",
    "  that is a template without parameters. That of `WaitV2` is a template with the object as its parameter, and two more functions,",
    '  those of `kubectl get -o go-template`: `exists .status "a" 0` is whether `index` would find something, `base64decode` is `b64dec`,',
    "  but for an error where the text is not base64.",
    "",
    "## Parameters",
    "",
    "| Parameter | Is |",
    "|---|---|",
    ...PARAMETERS.map(([name, about]) => `| \`.${name}\` | ${about} |`),
    "",
    "Methods of Go's types, such as `.Secrets.db.GetName`, are not available.",
    "",
    "## Functions",
    "",
    "| For | Functions |",
    "|---|---|",
    ...Object.entries(functionGroups).map(([group, all]) => `| ${group} | ${names(all)} |`),
    "",
    "Not those of later versions of sprig: `get`, `dig`, `fromJson`, and those that begin with `must`.",
    "",
    "## Not available",
    "",
    "A template that names one of these is refused before anything runs.",
    "",
    "| Functions | Because |",
    "|---|---|",
    ...refusals(),
    "",
  ].join("\n");
