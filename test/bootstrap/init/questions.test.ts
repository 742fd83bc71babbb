import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../bootstrap/config.js";
import { nginxSite } from "../../../bootstrap/init/deployment-files.js";
import { productionProblem } from "../../../bootstrap/init/questions.js";

const ANSWERS = {
  NODE_ENV: "production",
  PUBLIC_URL: "https://panorama.example",
  DATABASE_URL: "postgresql://panorama:SECRET@localhost/panorama",
  STORAGE: "s3",
  S3_BUCKET: "panorama",
  S3_ENDPOINT: "http://127.0.0.1:9000",
  S3_PUBLIC_URL: "https://images.example/panorama",
};
const IN_SITE = ["PUBLIC_URL", "S3_ENDPOINT", "S3_PUBLIC_URL"] as const;
const CERTIFICATE = { ports: [8081], certificate: "/etc/nginx/a.pem", key: "/etc/nginx/a.key" };

const read = (answers: Readonly<Record<string, string>>) => readConfig({ ...ANSWERS, ...answers });
const problemOf = (answers: Readonly<Record<string, string>>) =>
  productionProblem(read(answers)._unsafeUnwrap(), [8081]);

describe("productionProblem", () => {
  it.each(IN_SITE)("accepts names, addresses, ports and paths in %s", (variable) => {
    for (const host of [
      "a-b.example",
      "192.0.2.1:8443",
      "[2001:db8::1]",
      "xn--bcher-kva.example",
      "a.example/b_c/~d",
    ]) {
      expect(problemOf({ [variable]: `https://${host}` })).toBeUndefined();
    }
  });

  it.each(IN_SITE)("refuses %s with what ends a line of nginx, or is a variable of it", (variable) => {
    // Without tab and newline: reading a URL removes them, see the property below.
    for (const character of [...";{}$\"'` #\\*(ü", "%3B", "?a="]) {
      const url = `https://a${character}b.example`;
      if (read({ [variable]: url }).isErr()) continue;
      expect(problemOf({ [variable]: url }) ?? "accepted", url).toContain(`${variable} `);
    }
  });

  it("lets no URL add a line or a directive to the site", () => {
    const shape = (answers: Readonly<Record<string, string>>) =>
      nginxSite(read(answers)._unsafeUnwrap(), CERTIFICATE).replace(/[^;{}"'$#\n]/g, "");
    const expected = shape({});
    const text = fc.string({ unit: fc.constantFrom(..."a1./:;{}$\"'` \n\\#%@?[]"), maxLength: 12 });
    fc.assert(
      fc.property(fc.constantFrom(...IN_SITE), text, text, (variable, host, path) => {
        const answers = { [variable]: `https://a${host}/${path}` };
        fc.pre(read(answers).isOk() && problemOf(answers) === undefined);
        expect(shape(answers)).toBe(expected);
      }),
      { numRuns: 100 },
    );
  });
});
