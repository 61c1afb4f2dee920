// The neighbours of Transactions: authors of Transactions, and a bystander with ten changes each.
import { type JsonObject, transactions } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { configMaps } from "@janus/types";
import { TRANSACTIONS } from "../fixtures/installed.ts";
import { phaseOf } from "../load/crowd.ts";
import { deployer } from "../load/world.ts";
import { bystander, type Bystander } from "./bystander.ts";
import { tenant, type Tenant } from "./tenant.ts";
import type { Subject, TestBed } from "./test-bed.ts";

export const BYSTANDER = "bystander";

export interface Author extends Tenant {
  readonly submit: (
    name: string,
    changes: readonly JsonObject[],
    spec?: JsonObject,
    metadata?: JsonObject,
  ) => Promise<KubeObject>;
}

export const author = async (testBed: TestBed, namespace: string): Promise<Author> => {
  const user = await tenant(testBed, namespace, transactions);
  return {
    ...user,
    submit: (name, changes, spec = {}, metadata = {}) =>
      user.create(transactions, {
        metadata: { ...metadata, name },
        spec: { serviceAccountName: deployer, changes, ...spec },
      }),
  };
};

const cm = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name });

export const somebody = async (testBed: TestBed): Promise<Bystander> => {
  const user = await author(testBed, BYSTANDER);
  const { create, submit } = user;
  for (let n = 0; n < 5; n += 1) await create(configMaps, { metadata: { name: `kept-${n}` }, data: { run: "none" } });
  return bystander(testBed.api, user, {
    resource: transactions,
    submit: (name) =>
      submit(
        name,
        Array.from({ length: 10 }, (_, n) =>
          n % 2 === 0
            ? { type: "Patch", target: cm(`kept-${n / 2}`), content: { data: { run: name } } }
            : { type: "Create", target: cm(`${name}-${n}`), content: { data: { made: "yes" } } },
        ),
      ),
    endOf: (object) => {
      const phase = phaseOf(object);
      return ["Committed", "RolledBack", "Failed"].includes(phase) ? phase : undefined;
    },
    ends: "Committed",
  });
};

export const subject: Subject = {
  product: TRANSACTIONS,
  flags: ["--write-timeout=3s"],
  lease: "janus-controller-leader",
};
