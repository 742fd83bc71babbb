import { beforeEach, describe, expect, it } from "vitest";
import { SqlOperatorStore } from "../../../../adapters/persistence/accounts/sql-operator-store.js";
import { operatedAccounts } from "../../../../application/operators/accounts.js";
import { expire, uploading } from "../../../../domain/images/storage-status.js";
import { changeTask } from "../../../support/put-task.js";
import { newMember, setUpService, visiting } from "../../../support/visit.js";
import type { Person } from "../../../support/web-service.js";

describe("the works of a member", () => {
  const service = setUpService();
  let ann: Person;
  let member: Awaited<ReturnType<typeof newMember>>;
  beforeEach(async () => {
    service.provider.play({ poll: "succeeded", download: "image", submit: "accept" });
    member = await newMember(service);
    ann = member.person;
  });

  const visit = (path: string) => visiting(service).get(path);
  const prompts = async () => (await service.tasks.list(ann.id, 9, undefined)).map(({ request }) => request.prompt);
  /** The tiles of the page, by their texts. */
  const tiles = async () =>
    [...(await member.read("/works")).matchAll(/<li class="work".*?<\/li>/gs)].map(([tile]) => tile);

  it("are published to the gallery and withdrawn", async () => {
    const { id, slug } = await service.kept(ann, { prompt: "only mine", visibility: "private" });
    const isPublic = async () => [
      (await visit("/gallery")).text.includes("only mine"),
      (await visit(`/p/${slug}`)).status,
      (await tiles())[0]?.includes(`/p/${slug}/tile-480.webp`),
    ];
    expect(await isPublic()).toEqual([false, 404, false]);
    for (const visibility of ["public", "private"]) {
      expect((await member.post(`/works/${id}/visibility`, { visibility })).location).toBe("/works");
      expect(await isPublic()).toEqual(visibility === "public" ? [true, 200, true] : [false, 404, false]);
    }
  });

  it("show failed panoramas and their refunds", async () => {
    service.provider.play({ poll: "failed" });
    await service.panorama(ann, { prompt: "it fails" });
    expect((await tiles())[0]).toContain("4 credits were refunded");
    expect(await member.read("/works")).toContain('<strong id="balance">100</strong>');
  });

  it("offer no visibility of a panorama that is expired", async () => {
    const { image, ...task } = await service.kept(ann, { prompt: "the expired one", visibility: "private" });
    expect((await tiles())[0]).toContain('aria-label="Make public: the expired one"');
    const expired = expire(uploading(image.temporaryUrl, image.imageName));
    await changeTask(service.database, { ...task, image: expired });
    expect((await tiles())[0]).not.toContain("Make public");
  });

  it("are canceled with their refund until it is too late, and are then finished", async () => {
    service.provider.play({ poll: "running" });
    const { id } = await service.panorama(ann, { prompt: "changed my mind" });
    expect((await tiles())[0]).toContain(`action="/works/${id}/cancel"`);
    expect((await member.post(`/works/${id}/cancel`)).location).toBe("/works");
    expect((await tiles())[0]).toMatch(/Canceled.*4 credits were refunded/s);
    expect((await tiles())[0]).not.toContain("/cancel");
    expect(await service.ledger.balance(ann.id)).toBe(100);

    service.provider.play({ cancel: "too_late" });
    const late = await service.panorama(ann, { prompt: "nearly finished" });
    const tooLate = "This panorama cannot be stopped without a charge any more, so it is being finished.";
    expect(await member.post(`/works/${late.id}/cancel`)).toMatchObject({ status: 409, error: tooLate });
    service.provider.play({ poll: "succeeded", download: "image" });
    await service.work();
    const finished = "This panorama is finished. You can delete it in your panoramas.";
    expect(await member.post(`/works/${late.id}/cancel`)).toMatchObject({ status: 409, error: finished });
    expect((await tiles())[0]).toContain("<img");
    expect(await service.ledger.balance(ann.id)).toBe(96);
  });

  it("are published and deleted together, which reports skipped ones", async () => {
    const finished = [];
    for (const prompt of ["the first lake", "the second lake"])
      finished.push(await service.kept(ann, { prompt, visibility: "private" }));
    service.provider.play({ poll: "running" });
    const running = await service.panorama(ann, { prompt: "a lake in progress", visibility: "private" });
    const { person } = await newMember(service);
    const foreign = await service.panorama(person, { prompt: "not yours" });
    const act = async (fields: Record<string, string>, ids: readonly string[]) => {
      const form = new URLSearchParams({ form_token: member.token, ...fields });
      for (const id of ids) form.append("id", id);
      return member.send("/works/selected", { method: "POST", body: form });
    };
    const all = [...finished.map(({ id }) => id), running.id, foreign.id];
    const published = await act({ act: "publish" }, all);
    expect(await member.read(published.location ?? "")).toContain("2 panoramas published. 1 could not be published");
    for (const { slug } of finished) expect((await visit(`/p/${slug}`)).status).toBe(200);
    const doomed = [all[0] ?? "", running.id, foreign.id];
    const asked = await act({ act: "delete" }, doomed);
    expect(asked.text).toContain("Delete 2 panoramas?");
    expect(await prompts()).toHaveLength(3);
    const deleted = await act({ act: "delete", sure: "1" }, doomed);
    expect(await member.read(deleted.location ?? "")).toContain("1 panorama deleted. 1 could not be deleted");
    expect(await prompts()).toEqual(["a lake in progress", "the second lake"]);
    expect(await service.tasks.find(foreign.id, foreign.accountId)).toBeDefined(); // left out: it is of another member
  });

  it("stay with a suspended account, which can create or publish nothing", async () => {
    const kept = await service.kept(ann, { visibility: "private" });
    const ports = { ...service, operators: new SqlOperatorStore(service.database) };
    const reason = "Publishes private persons.";
    (await operatedAccounts(ports).suspendAccount(ann.id, { reason, by: "olga" }))._unsafeUnwrap();
    expect(await member.read("/works?q=zebra")).toContain("Nothing found for “<bdi>zebra</bdi>”.");
    const works = await member.read("/works");
    expect(works).toContain(`This account is suspended: ${reason}`);
    expect(works).not.toContain('id="create"');
    expect(await member.read(`/works/${kept.slug}`)).toContain("four quarters");
    const refused = [
      await member.create({ prompt: "a lake", resolution: "1k", visibility: "private" }),
      await member.post(`/works/${kept.id}/visibility`, { visibility: "public" }),
    ];
    for (const { status, text } of refused)
      expect([status, text]).toEqual([403, expect.stringContaining("is suspended")]);
    expect(await prompts()).toHaveLength(1);
  });
});
