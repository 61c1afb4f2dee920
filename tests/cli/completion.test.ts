import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { creating, patching } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { directory, janus, start } from "./command-line.ts";

/** The words that may come next, without their descriptions. */
const next = async (...words: readonly string[]): Promise<readonly string[]> => {
  const { stdout } = await janus("complete", "--", ...words);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "")
    .slice(0, -1)
    .toSorted();
};

it("completes the names that the command takes", async () => {
  const { namespace, create, run, submit, txn, janus: controller } = await workspace();
  await create(configMap("a"));
  await controller();
  await run([patching(configMap("a", { b: "1" }))], { name: "committed" });
  await submit([patching(configMap("a", { b: "2" }))], { name: "in-window", rollbackWindow: "1h" });
  await expect.poll(async () => (await txn("in-window")).status?.phase).toBe("Committed");
  await submit([creating(configMap("b"))], { name: "draft", lifecycle: "Draft" });
  await submit([creating(configMap("b"))], { name: "proposed", lifecycle: "Proposed" });
  const fitting = (...command: readonly string[]) => next(...command, "-n", namespace, "");
  expect(await fitting("get")).toEqual(["committed", "draft", "in-window", "proposed"]);
  expect(await fitting("get", "draft", "proposed")).toEqual(["committed", "in-window"]);
  for (const command of ["edit", "propose"]) expect(await fitting(command)).toEqual(["draft"]);
  for (const command of ["approve", "reject"]) expect(await fitting(command)).toEqual(["proposed"]);
  expect(await fitting("rollback")).toEqual(["in-window"]);
  for (const command of ["cancel", "retry"]) expect(await fitting(command)).toEqual([]);
  expect(await fitting("watch")).toEqual(["committed", "in-window", "proposed"]);
  expect(await fitting("snapshot", "show")).toEqual(["committed", "in-window"]);
  expect(await fitting("snapshot", "show", "in-window")).toEqual(["configmap/a"]);
  expect(await fitting("history")).toEqual(["configmap/a", "configmap/b"]);
  expect(await next("get", "-n", namespace, "dr")).toEqual(["draft"]);
  expect((await janus("complete", "--", "get", "-n", namespace, "comm")).stdout).toBe("committed\tCommitted 1/1\n:4\n");
});

it("completes namespaces, ServiceAccounts, and the entries of the kubeconfig", async () => {
  const { namespace } = await workspace();
  expect(await next("get", "-n", namespace.slice(0, -1))).toEqual([namespace]);
  expect(await next("plan", "-n", namespace, "--service-account", "")).toEqual(["default", "deployer"]);
  const config = path.join(directory, `${namespace}-config`);
  const { contexts, ...rest } = parse(readFileSync(controlPlane.kubeconfig, "utf8")) as {
    contexts: { name: string }[];
  };
  const others = contexts.map((one) => ({ ...one, name: "other-context" }));
  writeFileSync(config, stringify({ ...rest, contexts: [...contexts, ...others] }));
  expect(await next("get", "--kubeconfig", config, "--context", "other")).toEqual(["other-context"]);
  const entries = await Promise.all(
    ["--cluster", "--user"].map((flag) => next("get", "--kubeconfig", config, flag, "")),
  );
  expect(entries.map(({ length }) => length)).toEqual([1, 1]);
});

it("completes files in bash, by its own script, and nothing else where something else is to come", async () => {
  const script = `
    _get_comp_words_by_ref() { cur=\${COMP_WORDS[COMP_CWORD]}; words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
    compopt() { echo "compopt $*"; }
    source <(kubectl-janus completion bash)
    complete -p kubectl-janus
    for line in "apply -f ''" "get --phase Comm"; do
      eval "COMP_WORDS=(kubectl-janus $line)"
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      __kubectl_janus_complete
      echo "[\${COMPREPLY[*]}]"
    done`;
  const { stdout, stderr } = await start(["-c", script], { program: "bash" }).ended;
  expect(stderr).toBe("");
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(/^complete -o default -F __kubectl_janus_complete kubectl-janus$/u),
    "[]",
    "compopt +o default",
    "[Committing Committed]",
    "",
  ]);
});
