// Scenarios of Drafts that are rendered, proposed and approved.
import type { KubeObject } from "@janus/kube";
import { bareCreation, bystander, configMap, patch, secret, spec, transaction } from "../objects.ts";
import type { Scenario } from "../scenario.ts";
import type { UserAction } from "../user-action.ts";
import type { Ref, Users } from "../users.ts";

const a = configMap("a", { value: "old" });
const changes = [
  patch(a, { data: { value: "new" } }),
  patch(secret("token"), { data: { token: "bmV3" } }),
  bareCreation("bare"),
];
const before = [bystander, a, secret("token")];

interface Rendered extends KubeObject {
  readonly spec: { readonly lifecycle: string };
  readonly status?: { readonly render?: { readonly observedGeneration: number; readonly digest?: string } };
}

const digestIn = (answer: KubeObject | undefined): string =>
  (answer as Rendered | undefined)?.status?.render?.digest ?? "";

const edit = async ({ patch, read }: Users, next: (digest: string) => object): Promise<void> => {
  const spec = next(digestIn(await read(transaction)));
  await patch({ ...transaction, spec } as Ref);
};

/** When the controller has recorded what it would do in this part of its life. */
const onRender = (lifecycle: string, does: UserAction["does"]): UserAction => ({
  when: "after",
  is: ({ purpose }, answer) => {
    const { metadata, spec, status } = (answer ?? { metadata: {} }) as Partial<Rendered> & Pick<KubeObject, "metadata">;
    return (
      purpose === "record" &&
      spec?.lifecycle === lifecycle &&
      status?.render?.observedGeneration === (metadata as { readonly generation?: number }).generation
    );
  },
  does,
});

const propose = onRender("Draft", (users) => edit(users, () => ({ lifecycle: "Proposed" })));
const approve = onRender("Proposed", (users) =>
  edit(users, (approvedDigest) => ({ lifecycle: "Published", approvedDigest })),
);

/** Drafts that are rendered, proposed and approved while controllers come and go. */
export const drafts: readonly Scenario[] = [
  {
    name: "a Draft is proposed, approved as it was rendered, and commits",
    outcome: "Committed",
    before,
    spec: { ...spec(changes), lifecycle: "Draft" },
    userActions: [propose, approve],
  },
  {
    name: "somebody changes a target between approval and execution, and nothing is touched",
    outcome: "Failed",
    before,
    spec: { ...spec(changes), lifecycle: "Draft" },
    userActions: [
      propose,
      onRender("Proposed", async (users) => {
        const digest = digestIn(await users.read(transaction));
        await users.patch(configMap("a", { value: "theirs" }));
        await edit(users, () => ({ lifecycle: "Published", approvedDigest: digest }));
      }),
    ],
    // The target is as somebody has left it.
    check: ({ written }) => written.map((write) => `touched: ${write}`),
  },
  {
    name: "a Draft is edited while it is rendered, and does what it says last",
    outcome: "Committed",
    before,
    spec: { ...spec(changes), lifecycle: "Draft" },
    userActions: [
      {
        when: "before",
        is: ({ purpose }) => purpose === "dry-run",
        does: (users) => edit(users, () => ({ timeout: "29m" })),
      },
      propose,
      approve,
    ],
  },
];
