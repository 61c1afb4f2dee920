// Tests what is said of permissions that are missing where an ActionSet names no ServiceAccount.
import { expect, it } from "vitest";
import { accountHint } from "../../../packages/blueprints/src/core/account-hint.ts";

const unnamed = { metadata: { namespace: "shop" }, spec: {} };
const FORBIDDEN = 'secrets "db" is forbidden: User "system:serviceaccount:shop:default" cannot get resource "secrets"';

it.each([FORBIDDEN, "ServiceAccount shop/default may not create pods in namespace shop (phase dump)"])(
  "says that none is named, and how one is: %s",
  (message) => {
    expect(accountHint(message, unnamed, "default")).toBe(
      "the ActionSet names no ServiceAccount, and so has default: set spec.serviceAccountName or the label janus.io/service-account",
    );
  },
);

it.each([
  ["one is named", FORBIDDEN, { ...unnamed, spec: { serviceAccountName: "default" } }, "default"],
  [
    "its label names one",
    FORBIDDEN,
    { metadata: { ...unnamed.metadata, labels: { "janus.io/service-account": "default" } } },
    "default",
  ],
  ["another one lacks them", FORBIDDEN, unnamed, "ops"],
  ["it is something else", "phase dump: exited with 3", unnamed, "default"],
])("says nothing where %s", (_, message, actionSet, account) => {
  expect(accountHint(message, actionSet, account)).toBeUndefined();
});
