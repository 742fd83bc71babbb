import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { receiveProviderWebhook } from "../../../application/background/receive-provider-webhook.js";
import { settleSubmittedTasks } from "../../../application/background/settle-submitted-tasks.js";
import { createPanorama } from "../../../application/panoramas/create-panorama.js";
import type { Clock } from "../../../application/ports/clock.js";
import { DEADLINES } from "../../support/application.js";
import { aCreationRequest, taskId } from "../../support/builders.js";
import { type SignedWebhook, sendWebhook } from "../../support/fake-provider.js";
import { FAULTS } from "../../support/faulty-server.js";
import { A_CREATION, type Customer, HttpService } from "../../support/http-service.js";
import {
  type SignedWebhooksUnderTest,
  startFalWebhooks,
  startReplicateWebhooks,
  startSkyboxWebhooks,
  type WebhooksUnderTest,
} from "../../support/webhooks-under-test.js";

const SIGNED = [
  ["replicate", startReplicateWebhooks],
  ["fal", startFalWebhooks],
] as const;
const PROVIDERS = [["skybox", startSkyboxWebhooks], ...SIGNED] as const;

const LIMITS = { leaseMilliseconds: 60_000, concurrency: 10, generationDeadlineMilliseconds: 600_000 };
const CREATION = { ...A_CREATION, image_urls: ["https://pictures.example/p.jpg"] };

/** A service that takes the notices of one provider, with one customer. */
const stage = <R extends WebhooksUnderTest>(name: string, start: (clock: Clock) => Promise<R>) => {
  let pollsDue = 0;
  const on = {} as { service: HttpService; remote: R; customer: Customer };
  const ports = () => ({ ...on.service, provider: on.remote.provider });
  const pollDue = () => {
    pollsDue += 1;
  };

  beforeEach(async () => {
    pollsDue = 0;
    on.service = await HttpService.start({
      createPanorama: (...creation) => createPanorama(ports(), DEADLINES)(...creation),
      receiveProviderWebhook: (...webhook) =>
        receiveProviderWebhook({ ...on.service, notices: new Map([[name, on.remote.webhooks]]), pollDue })(...webhook),
    });
    on.remote = await start(on.service.clock);
    on.customer = await on.service.customer();
  });
  afterEach(async () => {
    await on.remote.close();
    await on.service.end();
    expect(on.service.failures).toEqual([]);
  });

  return {
    on,
    pollsDue: () => pollsDue,
    create: () => on.service.created(on.customer, CREATION),
    /** The provider's notice of its n-th task. */
    notice: (n = 1): SignedWebhook => on.remote.fake.webhook(on.remote.fake.tasks[n - 1]!, on.service.clock.now()),
    send: async (notice: SignedWebhook): Promise<[status: number, body: string]> => {
      const answer = await sendWebhook(notice, on.service.url);
      return [answer.status, await answer.text()];
    },
    /** Looks at what is due now; gives the number of looks. */
    settle: () => settleSubmittedTasks(ports(), LIMITS)(),
    statusOf: async (id: string) => {
      const answer = await on.service.request(`/panoramas/${id}`, on.customer);
      return ((await answer.json()) as { status: string }).status;
    },
  };
};

describe.each(PROVIDERS)("POST /hooks/%s", (name, start: (clock: Clock) => Promise<WebhooksUnderTest>) => {
  const { on, pollsDue, create, notice, send, settle, statusOf } = stage(name, start);

  it("makes the look at the task due at once, instead of later", async () => {
    const id = await create();
    expect(await settle()).toBe(0);
    expect(await send(notice())).toEqual([200, "taken"]);
    expect(pollsDue()).toBe(1);
    expect(await settle()).toBe(1);
    expect(await statusOf(id)).toBe("succeeded");
  });

  it("believes the provider's own interface, not the notice, about what has become of the task", async () => {
    const id = await create();
    const { fake } = on.remote;
    fake.plan = "run";
    const early = { ...fake.tasks[0]!, state: "succeed" as const };
    expect((await send(fake.webhook(early, on.service.clock.now())))[0]).toBe(200);
    expect(await settle()).toBe(1);
    expect(await statusOf(id)).toBe("processing");
  });

  it("changes nothing for a forged notice, and tells it nothing", async () => {
    await create();
    await create();
    const { url, ...rest } = notice(1);
    const stolen = new URL(notice(2).url).searchParams.get("proof") ?? "";
    for (const forged of [
      { ...rest, url: url.replace(/proof=\w+/, `proof=${stolen}`) },
      { ...rest, url: url.replace(/\?.*/, "") },
    ]) {
      expect(await send(forged)).toEqual([400, "This URL was not issued by this service."]);
    }
    expect(pollsDue()).toBe(0);
    expect(await settle()).toBe(0);
  });

  it("takes a notice that comes again, and one of a task that has ended, and changes nothing", async () => {
    const [first, second] = [await create(), await create()];
    const sent = [notice(2), notice(1), notice(2), notice(2), notice(1)];
    const answers = await Promise.all(sent.map(send));
    expect(answers.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await settle()).toBe(2);
    const ended = [...on.service.database.tasks.values()].map(({ task }) => task);
    expect(await Promise.all([first, second].map(statusOf))).toEqual(["succeeded", "succeeded"]);
    for (const late of sent) expect((await send(late))[0]).toBe(200);
    expect(await settle()).toBe(0);
    expect([...on.service.database.tasks.values()].map(({ task }) => task)).toEqual(ended);
  });

  it("takes a notice of a task that nobody knows any more, so that it is not sent for hours", async () => {
    await on.remote.provider.submit({ taskId: taskId(99), request: aCreationRequest(CREATION) });
    expect((await send(notice()))[0]).toBe(200);
    expect(await settle()).toBe(0);
  });

  it("takes nothing for a provider that is not in use", async () => {
    await create();
    const { url, ...rest } = notice();
    const sent = { ...rest, url: url.replace(`/hooks/${name}`, "/hooks/another") };
    expect(await send(sent)).toEqual([404, "No webhooks are accepted here."]);
    expect(await settle()).toBe(0);
  });

  it("reads no more of a body than a notice can have", async () => {
    await create();
    const huge = { ...notice(), body: "x".repeat(512 * 1024 + 1) };
    expect(await send(huge)).toEqual([400, "request body: must have at most 524288 bytes."]);
    expect(await settle()).toBe(0);
  });
});

describe.each(SIGNED)("POST /hooks/%s, signed", (name, start: (clock: Clock) => Promise<SignedWebhooksUnderTest>) => {
  const { on, pollsDue, create, notice, send, settle } = stage(name, start);

  it("changes nothing for a notice whose signature is wrong, or old", async () => {
    await create();
    const genuine = notice();
    expect((await send({ ...genuine, body: `${genuine.body} ` }))[0]).toBe(400);
    // No look is due yet, and would not be by itself.
    await on.service.clock.advance(2_000);
    expect((await send(on.remote.fake.webhook(on.remote.fake.tasks[0]!, new Date(0))))[0]).toBe(400);
    expect(pollsDue()).toBe(0);
    expect(await settle()).toBe(0);
  });

  it("wants a notice to be sent again that cannot be checked now", async () => {
    await create();
    on.remote.keyFaults.push(FAULTS.failsBefore);
    const sent = notice();
    expect(await send(sent)).toEqual([503, "The webhook cannot be verified now."]);
    await on.service.clock.advance(60_000);
    expect(await send(sent)).toEqual([200, "taken"]);
  });
});
