// Attacks on the Transactions of other namespaces, by a user who may edit in one: the worst that we know of.
import { REQUEST_YIELD, lockLease, REQUEST_ROLLBACK, RETRY_ROLLBACK, type JsonObject, transactions } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { configMaps, leases } from "@janus/types";
import { again, allOf, type Attack, many, submitted } from "./any-controller.ts";
import { type Author, BYSTANDER } from "./transactions.ts";
import { webhook } from "./webhook.ts";

const cm = (name: string, namespace?: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name,
  ...(namespace === undefined ? {} : { namespace }),
});
const made = (name: string, data: JsonObject = { made: "yes" }): JsonObject => ({
  type: "Create",
  target: cm(name),
  content: { data },
});
const patched = (name: string, data: JsonObject, namespace?: string): JsonObject => ({
  type: "Patch",
  target: cm(name, namespace),
  content: { data },
});
const deleted = (name: string): JsonObject => ({ type: "Delete", target: cm(name) });
const invented = (n: number): JsonObject => ({ apiVersion: `g${n}.example.com/v1`, kind: "Invented", name: "x" });
const text = (bytes: number): string => "x".repeat(bytes);

const annotate = ({ api, namespace }: Author, name: string, annotation: string, value: string | null) =>
  api.send({
    verb: "mergePatch",
    resource: transactions,
    namespace,
    name,
    body: { metadata: { annotations: { [annotation]: value } } },
  });

const edit = ({ api, namespace }: Author, name: string, n: number) =>
  api.send({ verb: "mergePatch", resource: configMaps, namespace, name, body: { data: { n: `${n}` } } });

/** So many Drafts of the same changes, one of which is of the target `drafted`; and both are edited all the time. */
const drafted = async (author: Author, count: number, changes: readonly JsonObject[]): Promise<() => Promise<void>> => {
  await author.create(configMaps, { metadata: { name: "drafted" }, data: { n: "0" } });
  await allOf(count, (n) => author.submit(`draft-${n}`, changes, { lifecycle: "Draft" }));
  const redraft = (n: number): Promise<unknown> =>
    author.api.send({
      verb: "mergePatch",
      resource: transactions,
      namespace: author.namespace,
      name: `draft-${n % count}`,
      body: { spec: { timeout: `${(n % 50) + 1}m` } },
    });
  return again(1, (n) => Promise.all([edit(author, "drafted", n), redraft(n)]));
};

const owned = (name: string, owner: string, uid: string): object => ({
  metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid }] },
});

/** The worst that we know of. What stands first in each title is what the author has. */
export const attacks: readonly Attack<Author>[] = [
  {
    title: "500 changes, and hundreds of objects that their deleted targets own",
    attack: async (author) => {
      const { metadata } = await author.create(configMaps, { metadata: { name: "owner" } });
      await allOf(400, (n) => author.create(configMaps, owned(`owned-${n}`, "owner", metadata.uid ?? "")));
      await author.submit("wide", [deleted("owner"), ...many(499, (n) => made(`wide-${n}`))]);
      return submitted;
    },
  },
  {
    title: "owners that own each other in a circle",
    attack: async (author) => {
      const ring = await Promise.all(many(20, (n) => author.create(configMaps, { metadata: { name: `ring-${n}` } })));
      await allOf(20, (n) => {
        const { name = "", uid = "" } = ring[(n + 1) % ring.length]?.metadata ?? {};
        const { metadata } = owned("", name, uid) as { readonly metadata: object };
        return author.api.send({
          verb: "mergePatch",
          resource: configMaps,
          namespace: author.namespace,
          name: `ring-${n}`,
          body: { metadata: { ...metadata, name: `ring-${n}` } },
        });
      });
      await allOf(10, (n) => author.submit(`circle-${n}`, [deleted(`ring-${2 * n}`), deleted(`ring-${2 * n + 1}`)]));
      return submitted;
    },
  },
  {
    title: "Transactions of 900 KB",
    attack: async (author) => {
      await allOf(12, (n) => author.submit(`large-${n}`, [made(`large-${n}`, { text: text(900_000) })]));
      return submitted;
    },
  },
  {
    title: "targets of 900 KB, in every change",
    attack: async (author) => {
      await allOf(16, (n) =>
        author.create(configMaps, { metadata: { name: `large-${n}` }, data: { text: text(900_000) } }),
      );
      await allOf(2, (n) =>
        author.submit(
          `patches-${n}`,
          many(8, (k) => patched(`large-${8 * n + k}`, { more: "yes" })),
        ),
      );
      return submitted;
    },
  },
  {
    title: "targets of 300 KB, of which every dry run takes seconds",
    attack: async (author, { api }) => {
      await allOf(40, (n) =>
        author.create(configMaps, { metadata: { name: `slow-${n}` }, data: { text: text(300_000) } }),
      );
      const end = await webhook(api, author.namespace, { after: 2_000, response: { allowed: true } });
      await allOf(4, (n) =>
        author.submit(
          `slow-${n}`,
          many(10, (k) => patched(`slow-${10 * n + k}`, { more: "yes" })),
        ),
      );
      return end;
    },
  },
  {
    title: "hundreds of kinds that are not served",
    attack: async ({ submit }) => {
      await allOf(12, (n) =>
        submit(
          `invented-${n}`,
          many(50, (k) => ({ type: "Create", target: invented(50 * n + k), content: {} })),
        ),
      );
      return submitted;
    },
  },
  {
    title: "a change that is refused in the words of the fence",
    attack: async (author) => {
      await author.create(configMaps, { metadata: { name: "words" } });
      const annotations = { "janus.io/fence: this is not the term of the leader": "x" };
      await allOf(8, (n) =>
        author.submit(`words-${n}`, [
          made(`words-${n}`),
          { type: "Create", target: cm(`refused-${n}`), content: { metadata: { annotations } } },
        ]),
      );
      return submitted;
    },
  },
  {
    title: "no permission for the bystander's objects, which it would lock for 1000 hours",
    attack: async (author) => {
      const account = { apiVersion: "v1", kind: "ServiceAccount", name: "later" };
      await author.submit(
        "locks",
        [
          { type: "Create", target: account, content: {} },
          ...many(5, (n) => patched(`kept-${n}`, { mine: "yes" }, BYSTANDER)),
        ],
        { timeout: "1000h", lockTimeout: "1000h" },
      );
      return submitted;
    },
  },
  {
    title: "Transactions whose writes all hang",
    attack: async (author, { api }) => {
      const end = await webhook(api, author.namespace, { after: 20_000, response: { allowed: true } });
      await allOf(12, (n) =>
        author.submit(
          `slow-${n}`,
          many(32, (k) => made(`slow-${n}-${k}`)),
        ),
      );
      return end;
    },
  },
  {
    title: "writes that are answered with a Retry-After of an hour",
    attack: async (author, { api }) => {
      const status = { code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 3600 } };
      const end = await webhook(api, author.namespace, { after: 0, response: { allowed: false, status } });
      await allOf(8, (n) =>
        author.submit(
          `busy-${n}`,
          many(10, (k) => made(`busy-${n}-${k}`)),
        ),
      );
      return end;
    },
  },
  {
    title: "journals that are overwritten",
    attack: async (author) => {
      await allOf(8, (n) =>
        author.submit(
          `scribbled-${n}`,
          many(20, (k) => made(`scribbled-${n}-${k}`)),
        ),
      );
      const { api, namespace } = author;
      const scribble = async (journal: string | null): Promise<void> => {
        const list = await api.send({ verb: "list", resource: configMaps, namespace, metadataOnly: true });
        if (E.isLeft(list)) return;
        const items = list.right["items"] as readonly { readonly metadata: { readonly name: string } }[];
        for (const { metadata } of items.filter(({ metadata }) => metadata.name.startsWith("janus-journal-")))
          await api.send({
            verb: "mergePatch",
            resource: configMaps,
            namespace,
            name: metadata.name,
            body: { data: { journal } },
          });
      };
      const end = again(2, () => scribble('{"stores":[{"name":"kept-0"}]}'));
      // With a key that only a later version could know, they are left alone, and so is the deletion of their Transactions.
      return async () => {
        await end();
        await scribble(null);
      };
    },
  },
  {
    title: "Transactions that come and go",
    attack: async ({ api, namespace, submit }) =>
      again(2, async (n) => {
        await submit(`fleeting-${n}`, [made(`fleeting-${n}`), made(`fleeting-${n}-b`)]);
        await api.send({ verb: "delete", resource: transactions, namespace, name: `fleeting-${n}` });
      }),
  },
  {
    title: "annotations that are removed and added, on many Transactions",
    attack: async (author) => {
      await author.create(leases, {
        metadata: { name: lockLease({ group: "", kind: "ConfigMap", namespace: author.namespace, name: "wanted" }) },
        spec: { holderIdentity: "somebody", leaseDurationSeconds: 3600 },
      });
      await allOf(20, (n) => author.submit(`asked-${n}`, [made(`asked-${n}`), made("wanted")]));
      const asker = `${BYSTANDER}/errand-1/00000000-0000-4000-8000-000000000000`;
      // With four side by side the API server is so busy with these writes alone that others wait 3 to 5 times as long, even
      // where the Transactions have ended and no controller looks at them.
      return again(1, async (n) => {
        const name = `asked-${n % 20}`;
        await annotate(author, name, REQUEST_YIELD, n % 2 === 0 ? asker : null);
        await annotate(author, name, RETRY_ROLLBACK, n % 2 === 0 ? "now" : null);
        if (n % 50 === 0) await annotate(author, name, REQUEST_ROLLBACK, "now");
      });
    },
  },
  {
    title: "locks that were written by hand",
    attack: async (author) => {
      await allOf(60, (n) =>
        author.create(leases, {
          metadata: {
            name: lockLease({ group: "", kind: "ConfigMap", namespace: author.namespace, name: `held-${n}` }),
          },
          spec: {
            holderIdentity: `${BYSTANDER}/errand-1/00000000-0000-4000-8000-${`${n}`.padStart(12, "0")}`,
            leaseDurationSeconds: 3600,
          },
        }),
      );
      await allOf(30, (n) => author.submit(`waits-${n}`, [made(`held-${2 * n}`), made(`held-${2 * n + 1}`)]));
      return submitted;
    },
  },
  {
    title: "200 Transactions with 250 KB of annotations each, which wait for a lock that was written by hand",
    attack: async (author) => {
      await author.create(leases, {
        metadata: { name: lockLease({ group: "", kind: "ConfigMap", namespace: author.namespace, name: "hoarded" }) },
        spec: { holderIdentity: "somebody", leaseDurationSeconds: 36_000 },
      });
      const annotations = { long: text(250_000) };
      await allOf(200, (n) => author.submit(`hoard-${n}`, [made("hoarded")], {}, { annotations }));
      return submitted;
    },
  },
  {
    title: "a target that is edited all the time while it is changed",
    attack: async (author) => {
      await author.create(configMaps, { metadata: { name: "busy" }, data: { n: "0" } });
      await allOf(8, (n) => author.submit(`edits-${n}`, [patched("busy", { [`of-${n}`]: "yes" }), made(`edits-${n}`)]));
      return again(1, (n) => edit(author, "busy", n));
    },
  },
  {
    title: "Transactions nested thousands of levels deep",
    attack: async (author) => {
      const deep = many(4_000, (n) => n).reduce<JsonObject>((inner) => ({ "1234567890123456789": inner }), {});
      await allOf(4, (n) => author.submit(`deep-${n}`, [made(`deep-${n}`, deep)]));
      return submitted;
    },
  },
  {
    title: "targets that Transactions wait for, and that change all the time",
    attack: async (author) => {
      await allOf(20, (n) =>
        author.submit(`waits-${n}`, [made(`restless-${n}`)], { waitFor: ["jsonpath={.data.never}"] }),
      );
      return again(1, (n) => edit(author, `restless-${n % 20}`, n));
    },
  },
  {
    title: "locks on 800 targets for the shortest time that there is, of Transactions that wait for ever",
    attack: async (author) => {
      await allOf(8, (n) =>
        author.submit(
          `holds-${n}`,
          many(100, (k) => made(`held-${n}-${k}`)),
          { lockTimeout: "1s", timeout: "1000h", waitFor: ["jsonpath={.data.never}"] },
        ),
      );
      return submitted;
    },
  },
  {
    title: "Drafts with many changes of one target, while target and Drafts are edited all the time",
    attack: (author) =>
      drafted(author, 150, [patched("drafted", { more: "yes" }), ...many(50, (k) => made(`drafted-${k}`))]),
  },
  {
    title: "hundreds of large Drafts of one target, while target and Drafts are edited all the time",
    attack: (author) => drafted(author, 300, [patched("drafted", { more: text(200_000) })]),
  },
  {
    title: "1,000 changes at once",
    attack: async (author) => {
      await allOf(4, (n) =>
        author.submit(
          `wide-${n}`,
          many(250, (k) => made(`wide-${n}-${k}`)),
        ),
      );
      return submitted;
    },
  },
];
