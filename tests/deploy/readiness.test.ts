import { ControllerDisruptionBudget, installation, type JanusProps, type Manifest, render } from "@janus/deploy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../fixtures/cluster.ts";
import { runNodes } from "./nodes.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";

const inSystem = "-n janus-system";
const deployment = `deployment/janus-controller ${inSystem}`;

/** Short, so that nobody waits for long. */
const quick: JanusProps = {
  leaderElection: { leaseDurationSeconds: 3, renewDeadlineSeconds: 2, retryPeriodSeconds: 1 },
  flags: ["--write-timeout=800ms", "--request-deadline=1500ms"],
};
/** In s: several times as long as a standby takes to become the leader. */
const FOR_EVER = 10;

/** Some minutes of several processes, on a machine that may be busy. */

let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster();
});
afterAll(() => cluster.stop());

interface Pod {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const pods = async (): Promise<readonly Pod[]> =>
  (JSON.parse(await cluster.admin(`get pods ${inSystem} -o json`)) as { readonly items: readonly Pod[] }).items;
const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
const readyOnes = async (): Promise<number> => (await pods()).filter(isReady).length;
const namesOf = (these: readonly Pod[]): readonly string[] => these.map(({ metadata }) => metadata.name);
/** The Pod of the holder of the Lease. */
const leader = async (): Promise<string> =>
  (await cluster.admin(`get lease janus-controller-leader ${inSystem} -o jsonpath={.spec.holderIdentity}`)).split(
    "_",
  )[0] ?? "";

/** The Pods that somebody reaches who uses the Service. */
const reached = async (): Promise<readonly string[]> => {
  const read = await cluster.admin(
    `get endpointslices ${inSystem} -l kubernetes.io/service-name=janus-controller -o json`,
  );
  const { items } = JSON.parse(read) as {
    readonly items: readonly {
      readonly endpoints: readonly {
        readonly conditions: { readonly ready: boolean };
        readonly targetRef: { readonly name: string };
      }[];
    }[];
  };
  return items.flatMap(({ endpoints }) =>
    (endpoints ?? []).filter(({ conditions }) => conditions.ready).map(({ targetRef }) => targetRef.name),
  );
};

/** Nothing of before is left; then this is installed, and has settled with so many ready Pods. */
const installed = async (ready: number, manifests: readonly Manifest[]): Promise<void> => {
  await cluster.admin(`delete deployment,pdb,service ${inSystem} --all`);
  await cluster.admin(`delete pods,leases ${inSystem} --all --grace-period=0 --force`);
  await cluster.admin("delete nodes --all");
  await cluster.install(...manifests);
  await runNodes(cluster);
  await eventually(async () => (await pods()).length === 2 && (await readyOnes()) === ready);
};

/** Another version of the controller. */
const update = async (): Promise<void> => {
  await cluster.admin(`set env ${deployment} VERSION=2`);
};

const rolledOut = (seconds: number): Promise<Outcome> =>
  cluster.kubectl("admin", `rollout status ${deployment} --timeout=${seconds}s`);

/** Nobody is to run on the leader's node. */
const drained = async (seconds: number): Promise<Outcome> => {
  const node = await cluster.admin(`get pod ${await leader()} ${inSystem} -o jsonpath={.spec.nodeName}`);
  return cluster.kubectl("admin", `drain ${node} --timeout=${seconds}s`);
};
/** Who leads is none of these, and the Service reaches nobody else. */
const isSucceeded = async (former: readonly string[]): Promise<boolean> => {
  const [now, ...others] = await reached();
  return now !== undefined && others.length === 0 && now === (await leader()) && !former.includes(now);
};

describe("where all controllers that work are ready", () => {
  const manifests = installation(quick);

  it("the Deployment is available, and the Service reaches the leader alone", async () => {
    await installed(2, manifests);
    expect(await rolledOut(30)).toMatchObject({ code: 0 });
    await eventually(() => isSucceeded([]));
  });

  it("an update comes to its end", async () => {
    await installed(2, manifests);
    const former = namesOf(await pods());
    await update();
    expect(await rolledOut(50)).toMatchObject({ code: 0 });
    await eventually(() => isSucceeded(former));
  });

  it("a drain of the leader's node comes to its end, and leaves one controller that is ready all the time", async () => {
    await installed(2, manifests);
    await eventually(() => isSucceeded([]));
    const former = await leader();
    const draining = drained(50);
    const over = new AbortController();
    void draining.then(() => over.abort());
    const ready: number[] = [];
    while (!over.signal.aborted) ready.push(await readyOnes());
    expect(await draining).toMatchObject({ code: 0 });
    expect(Math.min(...ready)).toBe(1);
    await eventually(() => isSucceeded([former]));
  });
});

describe("where the leader alone is ready", () => {
  const manifests = installation({ ...quick, readiness: "leader" });

  it("an update comes to its end; but whoever waits for the Deployment to be available waits for ever", async () => {
    await installed(1, manifests);
    const former = namesOf(await pods());
    await update();
    await eventually(async () => namesOf(await pods()).every((name) => !former.includes(name)));
    await eventually(() => isSucceeded(former));
    expect(await rolledOut(FOR_EVER)).toMatchObject({ code: 1, stdout: expect.stringContaining("1 of 2 updated") });
    expect(await pods()).toHaveLength(2);
  });

  it("a drain of the leader's node comes to its end", async () => {
    await installed(1, manifests);
    await eventually(() => isSucceeded([]));
    const former = await leader();
    expect(await drained(50)).toMatchObject({ code: 0 });
    await eventually(() => isSucceeded([former]));
  });
});

describe("where the leader alone is ready, with the settings of the other mode", () => {
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
  const manifests = [
    ...render((chart) => new ControllerDisruptionBudget(chart, "Budget")),
    ...installation({ ...quick, readiness: "leader" }).map((manifest) =>
      manifest.kind === "Deployment" ? { ...manifest, spec: { ...(manifest["spec"] as object), strategy } } : manifest,
    ),
  ];

  it("an update never ends: it waits for a Pod to be ready, which is not as long as a former one leads", async () => {
    await installed(1, manifests);
    await eventually(() => isSucceeded([]));
    const former = await leader();
    await update();
    expect(await rolledOut(FOR_EVER)).toMatchObject({ code: 1 });
    expect(await leader()).toBe(former);
  });

  it("no drain of the leader's node ends: it waits for another Pod to be ready", async () => {
    await installed(1, manifests);
    await eventually(() => isSucceeded([]));
    const former = await leader();
    expect(await drained(FOR_EVER)).toMatchObject({ code: 1, stderr: expect.stringContaining("disruption budget") });
    expect(await leader()).toBe(former);
  });
});
