import { API_VERSION, KIND } from "@janus/api";
import { inScope, parse, type SpecManifest, type TransactionManifest } from "@janus/authoring";
import { type ApiObject, type ApiObjectMetadata, type App, Chart, Lazy } from "cdk8s";
import { Construct, type IConstruct } from "constructs";
import { applyOrder } from "./apply-order.ts";
import { Change, type ChangeOptions } from "./change.ts";
import { NamedByContent } from "./named-by-content.ts";
import { dependenciesOf, isWithin, objectsOf, takeOut } from "./objects.ts";
import { type Time, written } from "./time.ts";

export interface TransactionOptions {
  /**
   * Labels, annotations, name and namespace of the Transaction.
   * @default - the namespace and labels of its chart; a name that is different for each content, from the path of the
   * construct and a hash of the spec
   */
  readonly metadata?: ApiObjectMetadata;
  /**
   * The ServiceAccount that reads and modifies the objects: its name, or a construct such as `ServiceAccount` of
   * cdk8s-plus. It must be in the namespace of the Transaction, and exist before it.
   */
  readonly serviceAccount: string | { readonly name: string };
  /**
   * Gates that each object must meet before the next change is made, such as `ready`.
   * @default - waits for nothing
   */
  readonly waitFor?: readonly string[];
  /**
   * How long the Transaction may take until all changes are made. After that, it is rolled back.
   * @default "30m"
   */
  readonly timeout?: Time;
  /**
   * How long the locks on the objects hold if the controller stops renewing them.
   * @default "5m"
   */
  readonly lockTimeout?: Time;
  /**
   * Gates that the restored objects must meet after a rollback.
   * @default - waits for nothing
   */
  readonly rollbackWaitFor?: readonly string[];
  /**
   * How long to wait for `rollbackWaitFor`.
   * @default "10m"
   */
  readonly rollbackWaitTimeout?: Time;
  /**
   * What happens when the Transaction is deleted while it is active: what is applied stays (`Release`), or it is
   * rolled back first (`Rollback`).
   * @default "Release"
   */
  readonly deletionPolicy?: "Release" | "Rollback";
  /**
   * Seconds after which the finished Transaction is deleted.
   * @default - it is kept
   */
  readonly ttlSecondsAfterFinished?: number;
}

export interface TransactionProps extends TransactionOptions {
  /** The changes, which are made one after the other in this order: all of them or none. At most 500. */
  readonly changes: readonly Change[];
}

export interface WholeChartProps extends TransactionOptions {
  /**
   * Options of the change of one object, such as its gates; called once for each.
   * @default - none: those of the Transaction hold
   */
  readonly changeOptions?: (object: ApiObject) => ChangeOptions;
}

const accountOf = ({ serviceAccount }: TransactionOptions): string =>
  typeof serviceAccount === "string" ? serviceAccount : serviceAccount.name;

const specOf = (
  { timeout, lockTimeout, rollbackWaitTimeout, ...props }: TransactionOptions,
  changes: readonly Change[],
): SpecManifest => ({
  serviceAccountName: accountOf(props),
  ...(props.waitFor === undefined ? {} : { waitFor: props.waitFor }),
  ...(timeout === undefined ? {} : { timeout: written(timeout) }),
  ...(lockTimeout === undefined ? {} : { lockTimeout: written(lockTimeout) }),
  ...(props.rollbackWaitFor === undefined ? {} : { rollbackWaitFor: props.rollbackWaitFor }),
  ...(rollbackWaitTimeout === undefined ? {} : { rollbackWaitTimeout: written(rollbackWaitTimeout) }),
  ...(props.deletionPolicy === undefined ? {} : { deletionPolicy: props.deletionPolicy }),
  ...(props.ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished: props.ttlSecondsAfterFinished }),
  changes: inScope(changes.map(({ toManifest }) => toManifest())),
});

/** What the API server would say, with the construct that each change is about. */
const mistakesIn = (manifest: TransactionManifest, changes: readonly Change[]): readonly string[] => {
  const parsed = parse(manifest);
  return parsed.ok
    ? []
    : parsed.errors.map(({ path, message }) => {
        const change = changes[Number(/^spec\.changes\[(\d+)\]/u.exec(path)?.[1])];
        return `${path}: ${message}${change === undefined ? "" : ` (${change.subject})`}`;
      });
};

/** A Transaction cannot create the ServiceAccount that it needs to begin. */
const accountAmong = (changes: readonly Change[], account: string, namespace: string | undefined): readonly string[] =>
  changes.flatMap(({ object, subject }) =>
    object?.kind === "ServiceAccount" && object.name === account && object.metadata.namespace === namespace
      ? [`its own ServiceAccount must exist before it: move it to a chart that is applied first (${subject})`]
      : [],
  );

/** An object of the chart that the Transaction does not have, though it is of the whole chart. */
const addedLater = (transaction: Transaction, whole: IConstruct): readonly string[] =>
  objectsOf(whole)
    .filter((object) => !transaction.node.dependencies.some((one) => isWithin(object, one)))
    .map(
      ({ kind, node }) =>
        `${kind} ${node.path} was added after Transaction.of: call that last, or let the Transaction depend on it`,
    );

/** What objects that are taken out depend on besides each other. */
const dependenciesOfAll = (objects: readonly ApiObject[]): readonly IConstruct[] => {
  const taken = new Set(objects);
  const hasOthers = (whole: IConstruct): boolean => objectsOf(whole).some((object) => !taken.has(object));
  return [...new Set(objects.flatMap(dependenciesOf))].filter(hasOthers);
};

/** A chart in the namespace of all others, if it is the same. */
const chartFor = (app: App, id: string): Chart => {
  const [namespace, ...more] = new Set(app.charts.flatMap((chart) => chart.namespace ?? []));
  return new Chart(app, id, namespace === undefined || more.length > 0 ? {} : { namespace });
};

/**
 * Changes that are made together or not at all.
 *
 * The Transaction takes over the objects of its changes: they are printed as its content, and no longer on their own.
 * What the API server would reject is an error of the synthesis, with the path of the construct.
 */
export class Transaction extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, { changes, ...options }: TransactionProps) {
    super(scope, id);
    this.apiObject = new NamedByContent(this, "Resource", {
      apiVersion: API_VERSION,
      kind: KIND,
      ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
      spec: Lazy.any({ produce: () => specOf(options, changes) }),
    });
    const objects = changes.flatMap(({ object }) => object ?? []);
    this.node.addDependency(...dependenciesOfAll(objects).filter((whole) => !isWithin(this, whole)));
    objects.forEach(takeOut);
    this.node.addValidation({
      validate: () => [
        ...mistakesIn(this.manifest, changes),
        ...accountAmong(changes, accountOf(options), this.apiObject.metadata.namespace),
      ],
    });
  }

  /**
   * Turns a whole chart, or all charts of an app, into one Transaction, which applies each object as `kubectl apply`
   * would. Dependencies come first, then the order of kinds holds. Call it last: an object that is added later is an
   * error, unless the Transaction depends on it.
   *
   * @param scope a chart, which then prints the Transaction in place of its objects; or an app, which gets a chart of
   * this id for the Transaction, while all others print nothing.
   * @throws if objects depend on each other in a circle.
   */
  static of(scope: Chart | App, id: string, { changeOptions = () => ({}), ...options }: WholeChartProps): Transaction {
    const changes = applyOrder(objectsOf(scope)).map((object) => Change.apply(object, changeOptions(object)));
    const props = { ...options, changes };
    const transaction = Chart.isChart(scope)
      ? new Transaction(scope, id, props)
      : new Transaction(chartFor(scope, id), "Default", props);
    transaction.node.addValidation({ validate: () => [...addedLater(transaction, scope)] });
    return transaction;
  }

  /**
   * The Transaction as it is printed.
   *
   * @throws if an object cannot be rendered yet, such as a Deployment without containers.
   */
  get manifest(): TransactionManifest {
    return this.apiObject.toJson() as TransactionManifest;
  }

  /** Its name, which is another one for another content, unless `metadata` names it. */
  get name(): string {
    return this.manifest.metadata.name;
  }
}
