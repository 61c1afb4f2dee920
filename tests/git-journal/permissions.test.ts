// The journal does all of its work with the permissions that the installation gives its ServiceAccount, and no others.
import { GitJournalRoles, render } from "@janus/deploy";
import { connect, type Hook, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { userKubeconfig } from "../fixtures/cluster.ts";
import { eventsOf } from "../fixtures/events.ts";
import { secret } from "../fixtures/manifests.ts";
import { configMap, configuration, controllerOf, manifest, place } from "./mirror-world.ts";

/** Under names of its own: another test may install it, too. */
const rolesIn = (home: string): readonly Manifest[] => {
  const all = render((chart) => new GitJournalRoles(chart, "Roles", { namespace: home }));
  return JSON.parse(JSON.stringify(all).replaceAll('"name":"janus-git-journal"', `"name":"${home}"`)) as Manifest[];
};

it("lists, watches and writes, tells of it in status and events, and is denied nothing", async () => {
  const { url, namespace, git, have, create, ready } = await place({ authorization: "Bearer token" });
  const roles = rolesIn(namespace);
  onTestFinished(async () => void (await Promise.all(roles.map((one) => administrator.remove(one)))));
  for (const one of roles) await administrator.create(one);
  const config = loadConfig({}, await userKubeconfig(`system:serviceaccount:${namespace}:${namespace}`));
  if (E.isLeft(config)) throw new Error(config.left);
  const denied: unknown[] = [];
  const hook: Hook = async (request, next) => {
    const answer = await next(request);
    if (E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 403)
      denied.push(answer.left.message);
    return answer;
  };
  const client = connect(config.right, { hooks: [hook], writeTimeout: 2_000, deadline: 5_000, connections: 100 });
  onTestFinished(() => client.close());

  const [repo, ...others] = configuration(url, ["*"]);
  const { stop } = await controllerOf(namespace, { as: client });
  await create(
    { ...(repo as Manifest), spec: { repoUrl: url, branch: "main", secretRef: { name: "cred" } } },
    ...others,
    secret("cred", { bearerToken: "token" }),
    configMap("a"),
    manifest("WatchRule", "lost", { destinationRef: { name: "none" }, rules: [{ resources: ["*"] }] }),
  );
  const file = (resource: string, name: string): string => `prod/core/v1/${resource}/${namespace}/${name}.yaml`;
  const roleFiles = ["rolebindings", "roles"].map(
    (plural) => `prod/rbac.authorization.k8s.io/v1/${plural}/${namespace}/${namespace}.yaml`,
  );
  await have([file("configmaps", "a"), file("secrets", "cred"), file("serviceaccounts", "default"), ...roleFiles]);
  await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "True" });
  await expect.poll(() => ready("GitRepoConfig", "repo")).toMatchObject({ status: "True" });
  await expect
    .poll(async () => (await eventsOf(namespace, "lost")).map(({ reason }) => reason))
    .toEqual(["GitDestinationNotFound"]);
  expect(git(["log", "-1", "--format=%an", "main"])).toBe("GitOps Reverser");
  await stop();
  expect(denied).toEqual([]);
});
