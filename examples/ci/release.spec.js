// For Vitest. Jest has the same `describe`, `expect` and `it`, but no message in `expect`.
import { simulate } from "@janus/testing";
import { describe, expect, it } from "vitest";
import { live, release } from "./manifests.js";

const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "shop" };

describe("the release", () => {
  it("brings version 2.0, and changes nothing else", () => {
    const { phase, why, objects } = simulate(release, live);
    expect(phase, why).toBe("Committed");
    const [config, shop, ...others] = objects;
    expect(config.data).toEqual({ version: "2.0", currency: "EUR" });
    expect(shop.spec.template.spec.containers).toEqual([
      {
        name: "shop",
        image: "registry.example.com/shop:2.0",
        ports: [{ containerPort: 8080, protocol: "TCP" }],
      },
    ]);
    expect(others).toEqual([]);
  });

  it("makes its changes in this order, as the ServiceAccount of deployments", () => {
    const made = simulate(release, live).requests.filter(({ purpose }) => purpose === "change");
    expect(made.map(({ verb, target }) => `${verb} ${target.kind} ${target.name}`)).toEqual([
      "apply ConfigMap shop",
      "apply Deployment shop",
      "delete Secret old-api-key",
    ]);
    expect(made.every(({ as }) => as === "system:serviceaccount:shop:deploy-sa")).toBe(true);
  });

  it.each(release.spec.changes.keys().toArray())("leaves everything as it was if changes[%i] fails", (failAt) => {
    const { phase, why, objects, before } = simulate(release, live, { failAt });
    expect(phase, why).toBe("RolledBack");
    expect(objects).toEqual(before);
  });

  it("is rolled back if version 2.0 does not get ready, before the old key is deleted", () => {
    const { phase, why, applied, rolledBack, items } = simulate(release, live, { notReady: [deployment] });
    expect(phase, why).toBe("RolledBack");
    expect(applied).toEqual([0, 1]);
    expect(rolledBack).toEqual([1, 0]);
    expect(items[1].error).toContain("waitFor was not met: ready");
  });
});
