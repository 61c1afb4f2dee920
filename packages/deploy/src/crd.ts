// Prints the CustomResourceDefinition of Transaction as YAML.
import { render, yaml } from "./render.ts";
import { TransactionCrd } from "./transaction-crd.ts";

process.stdout.write(yaml(render((chart) => new TransactionCrd(chart, "TransactionCrd"))));
