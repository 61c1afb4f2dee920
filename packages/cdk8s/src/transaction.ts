// The construct of a Transaction, which takes over the objects of its changes.
import { API_VERSION, KIND } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import { type ApiObject, type App, Chart, Lazy } from "cdk8s";
import { Construct, type IConstruct } from "constructs";
import { applyOrder } from "./apply-order.ts";
import { Change } from "./change.ts";
import { accountAmong, addedLater, changedTwice, irreversibleTooEarly, mistakesIn, namedInVain } from "./mistakes.ts";
import { NamedByContent } from "./named-by-content.ts";
import { dependenciesOf, isWithin, objectsOf, takeOut } from "./objects.ts";
import { accountOf, specOf } from "./spec.ts";
import type { TransactionProps, WholeChartProps } from "./transaction-props.ts";

/** What removed objects depend on besides each other. */
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

  constructor(scope: Construct, id: string, { changes, metadata, run, ...options }: TransactionProps) {
    super(scope, id);
    this.apiObject = new NamedByContent(this, "Resource", {
      apiVersion: API_VERSION,
      kind: KIND,
      ...(metadata === undefined ? {} : { metadata }),
      run,
      spec: Lazy.any({ produce: () => specOf(options, changes) }),
    });
    const objects = changes.flatMap(({ object }) => object ?? []);
    this.node.addDependency(...dependenciesOfAll(objects).filter((whole) => !isWithin(this, whole)));
    if (Construct.isConstruct(options.serviceAccount)) this.node.addDependency(options.serviceAccount);
    objects.forEach(takeOut);
    this.node.addValidation({
      validate: () => [
        ...mistakesIn(this.manifest, changes),
        ...changedTwice(this.manifest, changes),
        ...irreversibleTooEarly(this.manifest, changes),
        ...namedInVain(metadata, run),
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
