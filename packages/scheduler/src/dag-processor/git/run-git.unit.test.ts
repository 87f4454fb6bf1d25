import { expect, test } from "vitest";
import { shownUrl, withoutSecrets } from "./run-git.ts";

test.each([
  ["https://ada:s3cr3t@git.example/x.git", "https://git.example/x.git"],
  ["https://t0k3n@git.example/x.git", "https://git.example/x.git"],
  ["ssh://git@git.example/x.git", "ssh://git.example/x.git"],
  ["git@git.example:x.git", "git@git.example:x.git"],
  ["/srv/git/x.git", "/srv/git/x.git"],
])("%s is shown as %s", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test("what git says is shown without the password, as it is written in the URL and as it is meant", () => {
  const url = "https://ada:p%40ss%2Fword@git.example/x.git";
  const said = `fatal: unable to access '${url}/': 403\nAuthentication failed for p@ss/word (p%40ss%2Fword)`;
  expect(withoutSecrets(said, url)).toBe(
    "fatal: unable to access 'https://git.example/x.git/': 403\nAuthentication failed for *** (***)",
  );
  expect(withoutSecrets("token t0k3n-of-mine is bad", "https://t0k3n-of-mine@git.example/x")).toBe("token *** is bad");
  expect(withoutSecrets("Redirected to https://a:b@elsewhere/", "/srv/x.git")).toBe("Redirected to https://elsewhere/");
});
