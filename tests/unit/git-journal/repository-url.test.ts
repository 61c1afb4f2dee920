// Tests which URLs of repositories git gets to see: none that is a command, an option, or a file of this machine.
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { repositoryUrl } from "../../../packages/git-journal/src/core/repository-url.ts";
import { right } from "./right.ts";
import { anyCharacter } from "../core/arbitrary-text.ts";

describe("URLs that are accepted", () => {
  it.each([
    ["https://git.example.com/team/repo.git", "https", "https://git.example.com/team/repo.git"],
    ["HTTPS://Git.example.com:443/r", "https", "https://Git.example.com/r"],
    ["http://10.0.0.1:3000/r", "http", "http://10.0.0.1:3000/r"],
    ["https://user:p%40ss@g.example.com/r", "https", "https://g.example.com/r"],
    ["https://[2001:db8::1]:8443/r", "https", "https://[2001:db8::1]:8443/r"],
    ["ssh://git@g.example.com:2222/r.git", "ssh", "ssh://git@g.example.com:2222/r.git"],
    ["ssh://g.example.com/~/r", "ssh", "ssh://g.example.com/~/r"],
    ["git@github.com:team/repo.git", "ssh", "git@github.com:team/repo.git"],
  ])("%s", (text, protocol, url) => {
    expect(right(repositoryUrl(text))).toMatchObject({ protocol, url });
  });

  it("a name and a password are taken out, and kept apart", () => {
    const { url, key, user } = right(repositoryUrl("https://us%3Aer:p%40s%3As@g/r"));
    expect(user).toEqual({ name: "us:er", password: "p@s:s" });
    expect(`${url} ${key}`).not.toMatch(/us|p%40|p@s/u);
    expect(right(repositoryUrl("https://token@g/r")).user).toEqual({ name: "token", password: undefined });
    expect(right(repositoryUrl("https://:p@g/r")).user).toEqual({ name: "", password: "p" });
    expect(right(repositoryUrl("https://@g/r")).user).toBeUndefined();
  });

  it.each([
    ["https://G:8443/r/", "https://g:8443/r"],
    ["ssh://git@G:2222/r", "ssh://git@g:2222/r"],
    ["git@G:r/", "git@g:r"],
  ])("the key of %s", (text, key) => {
    expect(right(repositoryUrl(text)).key).toBe(key);
  });

  it.each([
    ["https://G.example.com:443/r/", "https://user:x@g.example.com./r", true],
    ["git@G:r/", "git@g:r", true],
    ["ssh://git@g:22/r", "ssh://git@G/r", true],
    ["https://g/r", "https://g/r.git", false],
    ["https://g/r", "http://g/r", false],
    ["https://g/r", "https://g:444/r", false],
    ["git@g:r", "ssh://git@g/r", false],
    ["ssh://a@g/r", "ssh://b@g/r", false],
  ])("%s and %s are one URL: %s", (a, b, isOne) => {
    expect(right(repositoryUrl(a)).key === right(repositoryUrl(b)).key).toBe(isOne);
  });

  it.each([
    ["https://g/team/r", "https://G.:443//Team/r.git/", true],
    ["https://g/team/r", "http://g/team/r/.git", true],
    ["https://g/team/r", "git@g:team/r.git", true],
    ["git@g:r", "ssh://other@g:22/~/r", true],
    ["https://g/%7Eann/r%2egit", "https://u:p@g/~ann/r", true],
    ["https://g/r", "https://g/r.gitx", false],
    ["https://g/r", "https://g/rgit", false],
    ["https://g/.git", "https://g/r", false],
    ["https://g/r", "https://g:444/r", false],
    ["https://g/a/r", "https://g/b/r", false],
    ["https://g/a%2fr", "https://g/a/r", false],
  ])("%s and %s are of one repository: %s", (a, b, isOne) => {
    expect(right(repositoryUrl(a)).repository === right(repositoryUrl(b)).repository).toBe(isOne);
  });

  it("what a repository is called is, as a URL, called the same", () => {
    const segment = fc.constantFrom("team", "R", "live.git", ".git", ".GIT", "~", ".", "%2Egit", "%25%41", "a~b", "");
    fc.assert(
      fc.property(
        fc.constantFrom("https://u:p@", "http://", "ssh://git@", "ssh://"),
        fc.constantFrom("g", "Git.example.com", "g.", "[::1]"),
        fc.constantFrom("", ":22", ":443", ":80", ":8443"),
        fc.array(segment, { minLength: 1, maxLength: 5 }),
        (scheme, host, port, segments) => {
          const once = repositoryUrl(`${scheme}${host}${port}/r/${segments.join("/")}`);
          const { repository } = right(once);
          expect(right(repositoryUrl(`https://${repository}`)).repository).toBe(
            repository.replace(/^([^/]*):443\//u, "$1/"),
          );
        },
      ),
    );
  });
});

describe("URLs that are refused", () => {
  it.each([
    "",
    "-oProxyCommand=x",
    "--upload-pack=x",
    "ext::sh -c x",
    "ext::sh",
    "file:///etc",
    "/srv/git",
    "./repo",
    "repo",
    "C:/repo",
    "host:path",
    "git://g/r",
    "ftp://g/r",
    "https://g",
    "https://g/",
    "https:///r",
    "https://-x/r",
    "ssh://-oProxyCommand=x/r",
    "ssh://-x@g/r",
    "git@-x:r",
    "-x@g:r",
    "git@g:-x",
    "git@g::r",
    "ssh://git:secret@g/r",
    "https://a:b@c@g/r",
    "https://g:0/r",
    "https://g:65536/r",
    "https://g/r\nHost: x",
    "https://g/a b",
    "https://g/a\\b",
    "https://g/a%0ab",
    "https://g/%zz",
    "https://us%0aer:p@g/r",
    "https://%zz:p@g/r",
    "https://g\u00e9/r",
  ])("%j", (text) => {
    expect(E.isLeft(repositoryUrl(text))).toBe(true);
  });

  it("a message has nothing of the URL: it may have a password", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("https://", "ssh://", "", "ext::"),
        fc.string({ unit: anyCharacter, maxLength: 20 }),
        fc.string({ maxLength: 5 }),
        (scheme, middle, end) => {
          const refused = repositoryUrl(`${scheme}s3cretname:s3cretpass${middle}@${end}`);
          expect(E.isLeft(refused) ? refused.left : "").not.toContain("s3cret");
        },
      ),
    );
  });

  it("whatever is accepted begins with its protocol or a user, and has neither white space nor a hyphen first", () => {
    const piece = fc.constantFrom(
      "https://",
      "ssh://",
      "git",
      "@",
      ":",
      "-",
      "/",
      "a",
      "%0a",
      "%2d",
      "::",
      " ",
      "\n",
      "[",
      "]",
      "1",
      "ext",
      "\\",
      ".",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const url = repositoryUrl(pieces.join(""));
        const shown = E.isRight(url) ? url.right.url : "git@a:a";
        expect(shown).toMatch(
          /^(?:https?:\/\/(?!-)[^\s@]+\/[^\s]*|ssh:\/\/(?!-)[^\s]+|[A-Za-z0-9_][\w.-]*@(?!-)[^\s:]+:(?!-).+|git@\[[^\s]+)$/u,
        );
      }),
      { numRuns: 3000 },
    );
  });
});
