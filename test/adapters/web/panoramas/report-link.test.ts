import { expect, it } from "vitest";
import { parseEmail } from "../../../../domain/accounts/account.js";
import { logIn, startService, visiting } from "../../../support/visit.js";

it("the link Report writes an e-mail to the operator that names the panorama; without OPERATOR_EMAIL it is missing", async () => {
  const operatorEmail = parseEmail("o'hara+contact@panorama.example")._unsafeUnwrap();
  for (const settings of [{ operatorEmail }, {}]) {
    const service = await startService(settings);
    service.provider.play({ poll: "succeeded", download: "image" });
    const ann = await service.person("ann");
    const { slug } = await service.kept(ann);
    const linkIn = (page: string) => /<a href="([^"]+)"[^>]*>Report</.exec(page)?.[1]?.replaceAll("&#39;", "'");
    const read = async (path: string) => (await visiting(service).get(path)).text;
    const link = linkIn(await read(`/p/${slug}`));
    if (!("operatorEmail" in settings)) return expect(link).toBeUndefined();
    const { protocol, pathname, searchParams } = new URL(link ?? "");
    expect([protocol, pathname]).toEqual(["mailto:", operatorEmail]);
    expect([...searchParams]).toEqual([["subject", `Report of ${service.url}/p/${slug}`]]);
    // Neither in a frame of another site, nor for its owner.
    expect(linkIn(await read(`/p/${slug}?embed=1`))).toBeUndefined();
    expect(linkIn(await (await logIn(service, ann)).read(`/p/${slug}`))).toBeUndefined();
  }
});
