// The admission policy that says what is wrong with a Blueprint when it is written, not when it is used.
import { BLUEPRINT_POLICIES, functionNames, functionOf, notBuilt } from "@janus/blueprints";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { blueprintsDefaults, type BlueprintsProps } from "./blueprints-props.ts";
import { blueprintsLabels } from "./labels.ts";
import { watchedWrites } from "./watched-writes.ts";

const name = BLUEPRINT_POLICIES.validation;

/** The most letters of a message. */
const MOST_TOLD = 1200;

const text = (value: string): string => `'${value}'`;

const list = (names: readonly string[]): string => `[${names.map(text).join(", ")}]`;

/** Of each function the arguments that it requires and those that it knows, as a map in CEL. Lists keep their order, maps do not. */
const functions = `{${functionNames
  .map((func) => {
    const args = Object.entries(functionOf(func)?.args ?? {});
    const required = args.filter(([, { isRequired }]) => isRequired === true);
    const [needs, knows] = [required, args].map((some) => list(some.map(([arg]) => arg)));
    return `${text(func)}: {'needs': ${needs}, 'knows': ${knows}}`;
  })
  .join(", ")}}`;

/** Those of Kanister alone: other actions of the same Blueprint may be used. */
const others = list(notBuilt);

const action = "dyn(object).actions[a]";
const phases = `(${action}.?phases.orValue([]) + (has(${action}.deferPhase) ? [${action}.deferPhase] : []))`;

/** Of the phase `p`, in the words of the controller. A list with one element gives its function a name. */
const problemsOfPhase =
  `[p.?func.orValue('')].map(f, f in variables.notBuilt ? [] : !(f in variables.functions) ? ` +
  `['function "' + f + '" does not exist (there is ${functionNames.join(", ")})'] : ` +
  `variables.functions[f].needs.filter(n, p.?args[?n].orValue(null) == null).map(n, 'required arg missing: ' + n) + ` +
  `p.?args.orValue({}).filter(n, !(n in variables.functions[f].knows)).map(n, 'argument "' + n + '" is not supported by ' + f))[0]`;

const problems =
  `dyn(object).?actions.orValue({}).map(a, ${phases}.map(p, ${problemsOfPhase}` +
  `.map(problem, 'action ' + a + ', phase ' + p.?name.orValue('') + ': ' + problem).join('; '))` +
  `.filter(one, one != '').join('; ')).filter(one, one != '')`;

/** What the policy evaluates: from the table of functions. */
export const blueprintChecks: readonly k8s.Variable[] = [
  { name: "functions", expression: functions },
  { name: "notBuilt", expression: others },
  { name: "problems", expression: problems },
  { name: "told", expression: "variables.problems.join('; ')" },
];

/**
 * The policy `janus-blueprints-validation`: a Blueprint with an unknown function, an unknown argument or without a required one is
 * denied, or admitted with a warning; the message has all of them.
 *
 * Guarantees: what it denies is refused by the controller, too. An edit that leaves the actions alone is admitted.
 * Assumes:    nothing: where it cannot be evaluated, such as at a Blueprint that costs more than CEL may, it admits, and the
 *             controller tells the problems before anything runs.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class BlueprintValidation extends Construct {
  constructor(scope: Construct, id: string, props: BlueprintsProps = {}) {
    super(scope, id);
    const { validation } = { ...blueprintsDefaults, ...props.blueprints };
    if (validation === "Off") return;
    const metadata = { name, labels: blueprintsLabels };
    new k8s.KubeValidatingAdmissionPolicy(this, "Policy", {
      metadata,
      spec: {
        failurePolicy: "Ignore",
        matchConstraints: watchedWrites(props, ["cr.kanister.io", "*", "blueprints"]),
        matchConditions: [
          {
            name: "actions-are-edited",
            expression: "oldObject == null || dyn(object).?actions != dyn(oldObject).?actions",
          },
        ],
        variables: [...blueprintChecks],
        validations: [
          {
            expression: "variables.problems.size() == 0",
            reason: "Invalid",
            message: "a phase has an unknown function, an unknown argument, or misses a required one",
            // The API server shows none that is longer than 5 KiB.
            messageExpression: `variables.told.size() > ${MOST_TOLD} ? variables.told.substring(0, ${MOST_TOLD}) + ' …' : variables.told`,
          },
        ],
      },
    });
    new k8s.KubeValidatingAdmissionPolicyBinding(this, "Binding", {
      metadata,
      spec: { policyName: name, validationActions: [validation] },
    });
  }
}
