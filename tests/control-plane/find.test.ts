import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { binaryNames, kubernetesVersion, versions } from "./binaries/binary.ts";
import { findBinaries, findHelm, findKwok, isKwokToBeHad } from "./binaries/find.ts";
import {
  fakeBinary,
  freshMachine,
  installGo,
  type Machine,
  placeOf,
  publish,
  released,
  writeExecutable,
} from "./fake-release.ts";

const find = async (machine: Machine) => {
  const lines: string[] = [];
  const found = await findBinaries(machine.env, (line) => lines.push(line));
  return { found, said: lines.join("\n") };
};

const failing = async (machine: Machine) => {
  const lines: string[] = [];
  const error: unknown = await findBinaries(machine.env, (line) => lines.push(line)).catch((reason: unknown) => reason);
  return { error: String(error), said: lines.join("\n") };
};

const forget = (machine: Machine) => machine.files.clear();
const all = (machine: Machine) => Object.fromEntries(binaryNames.map((name) => [name, placeOf(machine, name)]));

it("downloads what it needs once, and then needs no network", async () => {
  const machine = await freshMachine();
  expect((await find(machine)).found).toEqual(all(machine));
  const asked = machine.asked.length;
  forget(machine);
  expect(await find(machine)).toEqual({ found: all(machine), said: "" });
  expect(machine.asked.length).toBe(asked);
});

it("takes each binary from the first source that has it: KUBEBUILDER_ASSETS, cache, release, Go", async () => {
  const machine = await freshMachine();
  await installGo(machine);
  await find(machine);
  const assets = path.join(machine.directory, "assets");
  await writeExecutable(path.join(assets, "etcd"), fakeBinary("3.5.0"));
  await rm(placeOf(machine, "kube-apiserver"));
  await rm(placeOf(machine, "kubectl"));
  machine.files.delete(`${released("kubectl")}.sha256`);

  const { found, said } = await find({ ...machine, env: { ...machine.env, KUBEBUILDER_ASSETS: assets } });
  expect(found).toEqual({ ...all(machine), etcd: path.join(assets, "etcd") });
  expect(await readFile(found["kube-controller-manager"], "utf8")).toContain("# release");
  expect(await readFile(found["kube-apiserver"], "utf8")).toContain("# release");
  expect(await readFile(found.kubectl, "utf8")).toContain("# go");
  expect(said).toContain(`KUBEBUILDER_ASSETS: etcd is v3.5.0; tested is ${versions.etcd}`);
  expect(said).toMatch(/Official release of Kubernetes: .*kubectl\.sha256 answers 404/);
});

it("refuses a download whose checksum is not the published one", async () => {
  const machine = await freshMachine();
  machine.files.set(released("kube-apiserver"), Buffer.from(fakeBinary(kubernetesVersion, "another client")));
  const { error, said } = await failing(machine);
  expect(said).toMatch(/kube-apiserver has the checksum [0-9a-f]{64}, and [0-9a-f]{64} is published for it/);
  expect(error).toContain("No kube-apiserver, kube-controller-manager, kubectl for the control plane");
});

it("refuses a binary that is published rightly but is of another version", async () => {
  const machine = await freshMachine();
  publish(machine.files, "kubectl", fakeBinary("v1.30.0"));
  expect((await failing(machine)).said).toContain(`kubectl should be ${kubernetesVersion}, and is v1.30.0`);
});

it("keeps nothing of a download that breaks off, and goes on from what it has the next time", async () => {
  const machine = await freshMachine();
  machine.breaking.add(released("kube-controller-manager"));
  expect((await failing(machine)).said).toMatch(/kube-controller-manager broke off \(/);
  const kept = (await readdir(path.dirname(placeOf(machine, "etcd")))).toSorted();
  expect(kept).toEqual(["etcd", "etcd.json", "kube-apiserver", "kube-apiserver.json"]);

  machine.breaking.clear();
  const asked = machine.asked.length;
  expect((await find(machine)).found).toEqual(all(machine));
  expect(machine.asked.slice(asked)).not.toContain("kube-apiserver");
});

it("says what to do where there is neither a network nor Go", async () => {
  const machine = await freshMachine();
  machine.env["JANUS_KUBERNETES_MIRROR"] = "http://127.0.0.1:9"; // nobody listens on the discard port
  machine.env["JANUS_ETCD_MIRROR"] = "http://127.0.0.1:9";
  const { error, said } = await failing(machine);
  expect(said).toContain("Official release of Kubernetes: 127.0.0.1:9 cannot be reached (");
  expect(said).toContain("go is not on the PATH");
  for (const way of ["go online", "install Go", "KUBEBUILDER_ASSETS", "JANUS_KUBERNETES_MIRROR"])
    expect(error).toContain(way);
});

it("builds with Go from the module's own replacements", async () => {
  const machine = await freshMachine();
  await installGo(machine);
  forget(machine);
  expect((await find(machine)).found).toEqual(all(machine));
  expect(await readFile(path.join(machine.directory, "kubernetes-module.go.mod"), "utf8")).toBe(
    `module janus.local/binaries\ngo 1.26.0\nrequire k8s.io/kubernetes ${kubernetesVersion}\n` +
      `replace k8s.io/api => k8s.io/api ${kubernetesVersion.replace("v1", "v0")}\n`,
  );
});

it.each<[string, string, (place: string) => Promise<void>]>([
  ["truncated", "is damaged: 4 bytes", (place) => writeFile(place, "#!/b")],
  [
    "altered",
    "its checksum has changed",
    async (place) => writeFile(place, (await readFile(place, "utf8")).toUpperCase()),
  ],
  ["appended to", "is damaged", (place) => appendFile(place, "\n")],
  ["gone", "", (place) => rm(place)],
  ["without a marker", "was not put there by us", (place) => rm(`${place}.json`)],
  ["with half a marker", "was not put there by us", (place) => writeFile(`${place}.json`, '{"version":')],
  ["with the marker of another version", "is v1.0.0", (place) => writeFile(`${place}.json`, '{"version":"v1.0.0"}')],
  ["not executable", "is not executable", (place) => chmod(place, 0o644)],
  [
    "a directory",
    "was not put there by us",
    async (place) => {
      await rm(place);
      await mkdir(path.join(place, "in the way"), { recursive: true });
    },
  ],
])("heals a cache whose kubectl is %s, and asks for nothing else", async (_, why, damage) => {
  const machine = await freshMachine();
  await find(machine);
  const asked = machine.asked.length;
  await damage(placeOf(machine, "kubectl"));

  const { found, said } = await find(machine);
  expect(await readFile(found.kubectl, "utf8")).toBe(fakeBinary(kubernetesVersion));
  expect(said).toContain(why);
  expect(machine.asked.slice(asked)).toEqual(["kubectl.sha256", "kubectl"]);
  expect((await find(machine)).said).toBe("");
});

it("heals a cache that is a file, and one in which a process has died", async () => {
  const machine = await freshMachine();
  const cache = path.dirname(placeOf(machine, "etcd"));
  await mkdir(path.dirname(cache), { recursive: true });
  await writeFile(cache, "in the way");
  expect((await find(machine)).found).toEqual(all(machine));

  await rm(cache, { recursive: true });
  await mkdir(path.join(cache, ".getting-dead"), { recursive: true });
  await writeFile(path.join(cache, ".lock"), "999999999");
  expect((await find(machine)).found).toEqual(all(machine));
  expect((await readdir(cache)).filter((name) => name.startsWith("."))).toEqual([]);
});

it("lets two who need the same at once wait for each other, and downloads once", async () => {
  const machine = await freshMachine();
  const both = await Promise.all([find(machine), find(machine)]);
  expect(both.map(({ found }) => found)).toEqual([all(machine), all(machine)]);
  expect(machine.asked.filter((name) => name === "kube-apiserver")).toHaveLength(1);
});

it("gets helm only when it is asked for, from its release or else with Go", async () => {
  const machine = await freshMachine();
  await find(machine);
  expect(machine.asked.filter((name) => name.startsWith("helm"))).toEqual([]);
  const said: string[] = [];
  const findIt = () => findHelm(machine.env, (line) => said.push(line));
  expect(await findIt()).toBe(placeOf(machine, "helm"));
  expect(await readFile(placeOf(machine, "helm"), "utf8")).toContain("# release");

  forget(machine);
  expect(await findIt()).toBe(placeOf(machine, "helm"));
  await rm(placeOf(machine, "helm"));
  await expect(findIt()).rejects.toThrow("No helm: see above");
  expect(said.join("\n")).toMatch(/Official release of Helm: .*answers 404/);

  await installGo(machine);
  expect(await findIt()).toBe(placeOf(machine, "helm"));
  expect(await readFile(placeOf(machine, "helm"), "utf8")).toContain("# go");
});

it("gets kwok only when it is asked for, with Go, and says so where there is none", async () => {
  const machine = await freshMachine();
  const said: string[] = [];
  const log = (line: string) => said.push(line);
  expect(await isKwokToBeHad(machine.env, log)).toBe(false);
  expect(said.join("\n")).toContain("There is no Go to build kwok with");
  await expect(findKwok(machine.env, log)).rejects.toThrow("No kwok: see above");
  expect(said.join("\n")).toContain("Go build: go is not on the PATH");

  await installGo(machine);
  expect(await isKwokToBeHad(machine.env, log)).toBe(true);
  await find(machine);
  expect(existsSync(placeOf(machine, "kwok"))).toBe(false);
  expect(await findKwok(machine.env, log)).toBe(placeOf(machine, "kwok"));
  // Of the versions that Kubernetes is built of: what is compiled of them is not compiled again.
  const goMod = await readFile(path.join(machine.directory, "kwok-module.go.mod"), "utf8");
  expect(goMod).toContain("replace example.com/yaml => example.com/yaml v1.2.3");
  expect(goMod).not.toContain("k8s.io/api v0.0.0");
  await rm(path.join(machine.env["PATH"] ?? "", "go"));
  expect(await isKwokToBeHad(machine.env, log)).toBe(true);
  expect(await findKwok(machine.env, log)).toBe(placeOf(machine, "kwok"));
});
