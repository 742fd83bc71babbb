import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificatesIn, makeSigningPair } from "../../adapters/imaging/provenance/signing-pair.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";
import { verifiedProvenance } from "../support/verify-provenance.js";

type File = { readonly name: string; readonly bytes: Buffer; readonly type: string };

describe("a service whose operator has a certificate", () => {
  let installation: Installation;
  let files: readonly File[];
  let root: string;

  beforeAll(async () => {
    const pair = await makeSigningPair(new Date());
    root = certificatesIn(pair.certificate)[1] ?? "";
    installation = await migratedInstallation({
      DEMO: "false",
      LOCAL_PROVIDER_DELAY_MS: "0",
      C2PA_CERTIFICATE: pair.certificate,
      C2PA_KEY: pair.key,
    });
    const { client } = await installation.customer("a@example.com");
    await installation.start();
    const outputOf = async (prompt: string) => {
      const { id } = await client.create({ prompt, resolution: "2k", visibility: "public" });
      return (await client.untilKept(id)).output;
    };
    const { image_url = "", thumbnail_url = "", slug } = (await outputOf("a foggy ocean")) ?? {};
    const temporary = (await outputOf("a foggy ocean test:storage-fail"))?.image_url ?? "";
    const viewer = `${installation.url}/p/${slug}`;
    files = await Promise.all(
      Object.entries({
        "temporary image": temporary,
        panorama: image_url,
        thumbnail: thumbnail_url,
        "social image": `${viewer}/social.jpg`,
        copy: `${viewer}/512.webp`,
      }).map(async ([name, url]) => {
        const answer = await fetch(url);
        expect([name, answer.status]).toEqual([name, 200]);
        const type = answer.headers.get("content-type") ?? "";
        return { name, type, bytes: Buffer.from(await answer.arrayBuffer()) };
      }),
    );
  });
  afterAll(() => installation.remove());

  it("hands out files of five kinds that verifiers trust, with the manifest of the provider as an ingredient", async () => {
    expect(files).toHaveLength(5);
    for (const { name, bytes, type } of files) {
      const { state, failures, ...said } = (await verifiedProvenance(bytes, type, root)) ?? {};
      expect([name, state, failures]).toEqual([name, "Trusted", []]);
      if (name === "panorama") expect(said).toMatchObject({ action: { action: "c2pa.opened" }, ingredients: 1 });
      expect([name, (await verifiedProvenance(bytes, type))?.state]).toEqual([name, "Valid"]);
      const changed = Buffer.from(bytes);
      const at = type === "image/jpeg" ? changed.length - 4 : 40;
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect([name, (await verifiedProvenance(changed, type, root))?.state]).toEqual([name, "Invalid"]);
    }
  });
});
