import { afterEach, describe, expect, it } from "vitest";
import { parseEmail } from "../../../../domain/accounts/account.js";
import { PASSWORD, WebService } from "../../../support/web-service.js";

describe('the link "Report"', () => {
  let service: WebService;
  afterEach(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  /** The address of the link on the page of a public panorama, as strangers see it. */
  const linkOn = async (path: string, cookie = ""): Promise<string | undefined> => {
    const page = await (await fetch(service.url + path, { headers: { cookie } })).text();
    return /<a href="([^"]+)"[^>]*>Report</.exec(page)?.[1];
  };

  it("writes an e-mail to the operator that names the panorama", async () => {
    const operatorEmail = parseEmail("o'hara+contact@panorama.example")._unsafeUnwrap();
    service = await WebService.start(undefined, false, { operatorEmail });
    service.provider.play({ poll: "succeeded", download: "image" });
    const ann = await service.person("ann");
    const { slug } = await service.kept(ann);
    const link = new URL((await linkOn(`/p/${slug}`))?.replaceAll("&#39;", "'") ?? "");
    expect([link.protocol, link.pathname]).toEqual(["mailto:", operatorEmail]);
    expect([...link.searchParams]).toEqual([["subject", `Report of ${service.url}/p/${slug}`]]);
    // Neither in a frame of another site, nor for its owner.
    expect(await linkOn(`/p/${slug}?embed=1`)).toBeUndefined();
    const login = await fetch(`${service.url}/login`, {
      method: "POST",
      body: new URLSearchParams({ email: ann.email, password: PASSWORD }),
      headers: { origin: service.url },
      redirect: "manual",
    });
    expect(await linkOn(`/p/${slug}`, login.headers.get("set-cookie")?.split(";")[0])).toBeUndefined();
  });

  it("is missing without OPERATOR_EMAIL", async () => {
    service = await WebService.start();
    service.provider.play({ poll: "succeeded", download: "image" });
    const { slug } = await service.kept(await service.person("ann"));
    expect(await linkOn(`/p/${slug}`)).toBeUndefined();
  });
});
