// Tests which texts of files are at hand: the latest, bounded, and encrypted only where they are needed.
import { expect, it } from "vitest";
import type { ObjectFile } from "../../../packages/git-journal/src/core/kept-object.ts";
import { fileTexts } from "../../../packages/git-journal/src/shell/file-texts.ts";

const plain = (text: string): ObjectFile => ({ type: "plain", text });
const said = (text: Uint8Array | undefined): string | undefined => text && Buffer.from(text).toString();

it("keeps the latest, and of those no more than so many bytes", () => {
  const texts = fileTexts(() => Promise.resolve(""), 10);
  texts.put("a", plain("aaaa"));
  texts.put("b", plain("bbbb"));
  texts.put("a", plain("aaaa"));
  texts.put("c", plain("cccc"));
  expect(["a", "b", "c"].map((one) => said(texts.textOf(one)))).toEqual(["aaaa", undefined, "cccc"]);
  texts.put("large", plain("l".repeat(100)));
  expect(["a", "c", "large"].map((one) => said(texts.textOf(one))?.length)).toEqual([undefined, undefined, 100]);
});

it("encrypts what is asked for, once", async () => {
  const written: ObjectFile[] = [];
  const texts = fileTexts((file) => {
    written.push(file);
    return Promise.resolve("encrypted");
  });
  const file: ObjectFile = { type: "encrypted", file: {}, data: { a: "c2VjcmV0" }, recipients: ["age1"] };
  texts.put("s", file);
  expect(texts.textOf("s")).toBeUndefined();
  await texts.prepare(["s", "absent"]);
  await texts.prepare(["s"]);
  expect(said(texts.textOf("s"))).toBe("encrypted");
  expect(written).toEqual([file]);
});
