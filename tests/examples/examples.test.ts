import { globSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { KubeObject } from "@janus/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type Installed, installed } from "../fixtures/installed.ts";
import { startKubelet } from "../fixtures/kubelet.ts";
import { ended, running } from "../fixtures/pod-status.ts";
import { shellOf } from "../fixtures/shell.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(repository, file), "utf8");
const documentsOf = (file: string): readonly KubeObject[] =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as KubeObject);

/** Each folder of examples that has a Transaction is an example. */
const examples = globSync("examples/*/transaction.yaml", { cwd: repository })
  .map((file) => path.dirname(file))
  .toSorted();

/** What is there afterwards, field by field, and what is not. */
interface Expectation {
  readonly objects?: readonly KubeObject[];
  readonly absent?: readonly KubeObject[];
}

/** In a README, the commands are its blocks of `sh`. */
const commandsOf = (folder: string): readonly string[] =>
  [...read(`${folder}/README.md`).matchAll(/^```sh\n(.*?)^```$/gmsu)].map(([, block = ""]) => block);

let cluster: Installed;
beforeAll(async () => {
  cluster = await installed([]);
  await (await cluster.replica("janus")).start();
});
afterAll(() => cluster?.end());

/** What a node would make of a Pod: a migration ends, everything else runs. */
const statusOf = (image: string): object => (image.includes("migrate") ? ended("Succeeded") : running);

const argumentsOf = ({ kind, metadata: { name, namespace } }: KubeObject): readonly string[] => [
  `${kind}/${name}`,
  ...(namespace === undefined ? [] : ["-n", namespace]),
];

describe.each(examples)("%s", (folder) => {
  const files = readdirSync(path.join(repository, folder)).filter((file) => file.endsWith(".yaml"));
  const objects = files.flatMap((file) => documentsOf(`${folder}/${file}`));

  it("uses every manifest that it has, or says what it is for", () => {
    const text = read(`${folder}/README.md`);
    expect(files.filter((file) => file !== "expect.yaml" && !text.includes(file))).toEqual([]);
  });

  it("does what it says, by the commands of its README", async () => {
    const namespaces = objects.filter(({ kind }) => kind === "Namespace").map(({ metadata: { name = "" } }) => name);
    const shell = shellOf(cluster.controlPlane);
    const kubelets = await Promise.all(namespaces.map((name) => startKubelet(cluster.api, name, statusOf)));
    try {
      for (const command of commandsOf(folder)) {
        const { code, stdout, stderr } = await shell(command);
        expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
      }
    } finally {
      for (const stop of kubelets) stop();
    }

    const listed = JSON.parse(await cluster.kubectl("get", "txn", "-A", "-o", "json")) as {
      readonly items: readonly KubeObject[];
    };
    const ours = listed.items.filter(({ metadata: { namespace = "" } }) => namespaces.includes(namespace));
    expect(ours).toHaveLength(objects.filter(({ kind }) => kind === "Transaction").length);
    for (const txn of ours) expect(txn).toMatchObject({ status: { phase: "Committed" } });

    const { objects: there = [], absent = [] } = parse(read(`${folder}/expect.yaml`)) as Expectation;
    for (const wanted of there)
      expect(JSON.parse(await cluster.kubectl("get", ...argumentsOf(wanted), "-o", "json"))).toMatchObject(wanted);
    for (const gone of absent)
      expect(await cluster.kubectl("get", ...argumentsOf(gone), "--ignore-not-found", "-o", "name")).toBe("");
  });
});
