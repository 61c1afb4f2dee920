// What a phase costs above a bare Pod: time and writes of a KubeTask, in turn with bare Pods.
import { type Asked, type Cluster, NAMESPACE } from "./cluster.ts";
import { counted, type Figure, ms, numbers, quantile, timed } from "../figures.ts";
import { COMMAND, runBarePod } from "./pods.ts";
import { isComplete } from "./progress.ts";

const PHASES = 10;
const ROUNDS = 5;

export const tasks = (count: number): readonly object[] =>
  numbers(count).map((n) => ({ func: "KubeTask", name: `task-${n}`, args: { image: "busybox", command: COMMAND } }));

const WRITES = ["create", "update", "patch", "delete"];
/** Reviews store nothing; a Lease is renewed whatever there is to do. */
const UNCOUNTED = ["selfsubjectaccessreviews", "leases"];

const isWrite = ({ verb, resource }: Asked): boolean => WRITES.includes(verb) && !UNCOUNTED.includes(resource);

export const phaseFigures = async (place: Cluster): Promise<readonly Figure[]> => {
  const { recipe, submit, actionSets, onPod, asked } = place;
  await recipe("one", tasks(1));
  await recipe("many", tasks(PHASES));

  /** When each Pod of an ActionSet was seen first. */
  let begun: number[] = [];
  onPod(({ metadata: { namespace, labels = {} } }) => {
    if (namespace === NAMESPACE && labels["createdBy"] === "kanister") begun.push(performance.now());
  });
  const run = async (name: string, of: string): Promise<readonly Asked[]> => {
    begun = [];
    const before = (await asked()).length;
    await submit(name, of);
    await actionSets.when(name, isComplete);
    // The last requests are those of its journal and its events.
    await new Promise((resolve) => setTimeout(resolve, 500));
    return (await asked()).slice(before);
  };

  const bare: number[] = [];
  const phases: number[] = [];
  let ofOne: readonly Asked[] = [];
  let ofMany: readonly Asked[] = [];
  for (const round of numbers(ROUNDS)) {
    ofOne = await run(`one-${round}`, "one");
    ofMany = await run(`many-${round}`, "many");
    phases.push(...begun.slice(1).map((at, n) => at - (begun[n] ?? at)));
    for (const n of numbers(PHASES)) bare.push(await timed(() => runBarePod(place, `bare-${round}-${n}`)));
  }

  const each = (which: (one: Asked) => boolean): number =>
    (ofMany.filter(which).length - ofOne.filter(which).length) / (PHASES - 1);
  const above = (q: number): string => {
    const [phase, pod] = [quantile(phases, q), quantile(bare, q)];
    return `${ms(phase - pod)} (${ms(phase)} and ${ms(pod)})`;
  };
  const kinds = [...new Set(ofMany.filter(isWrite).map(({ verb, resource }) => `${verb} ${resource}`))];
  const ofKinds = kinds
    .map((kind) => [kind, each(({ verb, resource }) => `${verb} ${resource}` === kind)] as const)
    .filter(([, count]) => count > 0.05);
  const names = ofKinds.map(([kind, count]) => `${count.toFixed(1)} ${kind}`).join(", ");
  const reads = ofMany.filter((one) => !isWrite(one)).map(({ verb, resource }) => `${verb} ${resource}`);
  return [
    {
      what: "time of a KubeTask phase above that of a bare Pod, median",
      measured: `${above(0.5)}; of the fastest tenth, which a busy machine disturbs least: ${above(0.1)}`,
      most: "60 ms",
    },
    {
      what: "writes of a KubeTask phase above the two of a bare Pod",
      measured: `${(each(isWrite) - 2).toFixed(1)} (${names})`,
      most: "6",
    },
    { what: `other requests of an ActionSet of ${PHASES} phases`, measured: counted(reads), most: "" },
  ];
};
