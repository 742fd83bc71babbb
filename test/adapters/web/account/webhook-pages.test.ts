import { describe, expect, it } from "vitest";
import { newMember, setUpService } from "../../../support/visit.js";

const PATH = "/account/webhooks";
const URL_GIVEN = "https://receiver.example.com/<hook>";
const URL_SHOWN = "https://receiver.example.com/&lt;hook&gt;";

describe("the page of webhooks", () => {
  const service = setUpService();
  /** A member who has just added an endpoint with the page's form. */
  const withEndpoint = async () => {
    const { person, cookie, token, read, get, post } = await newMember(service);
    expect((await post(PATH, { url: URL_GIVEN })).location).toBe(PATH);
    const endpoint = async () => (await service.endpoints.list(person.id)).find(({ url }) => url !== undefined);
    const created = (await endpoint())!;
    const act = (action: string) => post(`${PATH}/${created.id}/${action}`);
    return { person, cookie, token, read, get, post, endpoint, created, act };
  };

  it("adds an endpoint, shows its secret, makes a new one, and deletes it", async () => {
    const { read, post, endpoint, created, act } = await withEndpoint();
    const page = await read(PATH);
    for (const part of [`<strong>${URL_SHOWN}</strong>`, created.secret, "Nothing was sent."])
      expect(page).toContain(part);
    expect(page).toContain("Nothing more is sent to this URL, and its secret is lost. This can’t be undone.");
    const refused = await post(PATH, { url: "http://10.0.0.7/<hook>" });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("http://10.0.0.7/&lt;hook&gt;")]);
    expect((await act("rotate")).location).toBe(PATH);
    expect((await endpoint())?.previous?.secret).toBe(created.secret);
    expect(await read(PATH)).toContain("the previous secret is valid until");
    expect((await act("delete")).location).toBe(PATH);
    expect(await endpoint()).toBeUndefined();
    expect(await read(PATH)).not.toContain(URL_SHOWN);
  });

  it("sends a test, and shows once whether it has arrived", async () => {
    const { cookie, created, read, get, act } = await withEndpoint();
    const { webhookSender } = service;
    for (const [answer, said] of [
      [{ kind: "delivered", detail: "status 204" }, `has arrived at <strong>${URL_SHOWN}</strong>: status 204`],
      [{ kind: "failed", detail: "no answer in time", isGone: false }, "has not arrived at"],
    ] as const) {
      webhookSender.answer = () => answer;
      const { cookie: note } = await act("test");
      expect((await get(PATH, { cookie: `${cookie}; ${note}` })).text).toContain(said);
      expect(await read(PATH)).not.toContain(said);
    }
    const signed = { url: URL_GIVEN, secrets: [created.secret] };
    expect(webhookSender.sent).toMatchObject([signed, signed]);
  });

  it("lists deliveries, and sends one again", async () => {
    const { person, read, post, act } = await withEndpoint();
    service.provider.play({ poll: "succeeded", download: "image" });
    await service.kept(person, { prompt: "a quiet lake" });
    const row = async () => /<tr><td>(?:(?!<\/tr>).)*panorama\.succeeded.*?<\/tr>/s.exec(await read(PATH))?.[0] ?? "";
    expect(await row()).toContain(">pending<");
    const now = service.clock.now();
    const claim = { now, until: now, limit: 1, laneLimit: 1, busyLanes: [], choose: <T>(due: T) => due };
    const [claimed] = await service.deliveries.claim(claim);
    expect((await post(`/account/deliveries/${claimed?.id}/resend`)).location).toBe(PATH);
    const again = (await service.deliveries.list(person.id, 9, undefined)).find(({ id }) => id === claimed?.id);
    expect(again?.delivery).toMatchObject({ state: "pending", attempts: 0 });
    await act("delete");
    expect(await row()).toContain(">failed<");
  });

  it("shows that an endpoint is switched off, sends nothing again to it, and switches it on", async () => {
    const { person, read, post, endpoint, created, act } = await withEndpoint();
    service.provider.play({ poll: "succeeded", download: "image" });
    await service.kept(person, { prompt: "a quiet lake" });
    const now = service.clock.now();
    await service.deliveries.switchOff(created, "gone", now, now);
    expect(await read(PATH)).toContain("it answered with status 410");
    const [delivery] = await service.deliveries.list(person.id, 9, undefined);
    const error = "The endpoint is switched off. Switch it on first.";
    expect(await post(`/account/deliveries/${delivery?.id}/resend`)).toMatchObject({ status: 409, error });
    expect((await act("enable")).location).toBe(PATH);
    expect((await endpoint())?.off).toBeUndefined();
  });
});
