import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import { receiveProviderWebhook } from "../../../../application/background/receive-provider-webhook.js";
import { settleSubmittedTasks } from "../../../../application/background/settle-submitted-tasks.js";
import { createPanorama } from "../../../../application/panoramas/create-panorama.js";
import { generationTime } from "../../../../application/panoramas/forecast-task.js";
import type { Clock } from "../../../../application/ports/clock.js";
import type { TaskId } from "../../../../domain/ids.js";
import { CREATION_SETTINGS } from "../../../support/application.js";
import { type SignedWebhook, sendWebhook } from "../../../support/fake-provider.js";
import { FAULTS } from "../../../support/faulty-server.js";
import { A_CREATION, type Customer, HttpService } from "../../../support/http-service.js";
import {
  type SignedWebhooksUnderTest,
  startFalWebhooks,
  startReplicateWebhooks,
  startSkyboxWebhooks,
  type WebhooksUnderTest,
} from "../../../support/webhooks-under-test.js";

const SIGNED = [
  ["replicate", startReplicateWebhooks],
  ["fal", startFalWebhooks],
] as const;
const PROVIDERS = [["skybox", startSkyboxWebhooks], ...SIGNED] as const;

const LIMITS = { leaseMilliseconds: 60_000, concurrency: 10, generationDeadlineMilliseconds: 600_000 };
const CREATION = { ...A_CREATION, image_urls: ["https://images.example/p.jpg"] };

/** A service that accepts the webhooks of one provider, with one customer. */
const webhookSetup = <R extends WebhooksUnderTest>(name: string, start: (clock: Clock) => Promise<R>) => {
  let pollsDue = 0;
  const context = {} as { service: HttpService; remote: R; customer: Customer };
  const ports = () => ({ ...context.service, provider: context.remote.provider });
  const pollDue = () => {
    pollsDue += 1;
  };

  beforeEach(async () => {
    pollsDue = 0;
    context.service = await HttpService.start({
      panoramas: {
        create: (...creation) =>
          createPanorama({ ...ports(), generationTime: generationTime() }, CREATION_SETTINGS)(...creation),
        receiveProviderWebhook: (...webhook) =>
          receiveProviderWebhook({ ...context.service, webhooks: new Map([[name, context.remote.webhooks]]), pollDue })(
            ...webhook,
          ),
      },
    });
    context.remote = await start(context.service.clock);
    context.customer = await context.service.customer();
  });
  afterEach(async () => {
    await context.remote.close();
    await context.service.end();
    expect(context.service.failures).toEqual([]);
  });

  return {
    context,
    pollsDue: () => pollsDue,
    create: () => context.service.created(context.customer, CREATION),
    /** The webhook that the provider sends for its n-th task. */
    webhook: (n = 1): SignedWebhook =>
      context.remote.fake.webhook(context.remote.fake.tasks[n - 1]!, context.service.clock.now()),
    send: async (webhook: SignedWebhook): Promise<[status: number, body: string]> => {
      const answer = await sendWebhook(webhook, context.service.url);
      return [answer.status, await answer.text()];
    },
    /** Polls the tasks that are due now; returns their number. */
    settle: () => settleSubmittedTasks(ports(), LIMITS)(),
    stateOf: (id: string) => context.service.database.tasks.get(id as TaskId)?.task.state,
    statusOf: async (id: string) => {
      const answer = await context.service.request(`/panoramas/${id}`, context.customer);
      return ((await answer.json()) as { status: string }).status;
    },
  };
};

describe.each(PROVIDERS)("POST /hooks/%s", (name, start: (clock: Clock) => Promise<WebhooksUnderTest>) => {
  const { context, pollsDue, create, webhook, send, settle, stateOf, statusOf } = webhookSetup(name, start);

  it("makes the task due for a poll immediately", async () => {
    const id = await create();
    expect(await settle()).toBe(0);
    expect(await send(webhook())).toEqual([200, "accepted"]);
    expect(pollsDue()).toBe(1);
    expect(await settle()).toBe(1);
    expect(stateOf(id)).toBe("generated");
  });

  it("takes the state of the task from the API of the provider, not from the webhook", async () => {
    const id = await create();
    const { fake } = context.remote;
    fake.plan = "run";
    const early = { ...fake.tasks[0]!, state: "succeed" as const };
    expect((await send(fake.webhook(early, context.service.clock.now())))[0]).toBe(200);
    expect(await settle()).toBe(1);
    expect(await statusOf(id)).toBe("processing");
  });

  it("changes nothing for a forged webhook and reveals nothing to its sender", async () => {
    await create();
    await create();
    const { url, ...rest } = webhook(1);
    const stolen = new URL(webhook(2).url).searchParams.get("proof") ?? "";
    for (const forged of [
      { ...rest, url: url.replace(/proof=\w+/, `proof=${stolen}`) },
      { ...rest, url: url.replace(/\?.*/, "") },
    ]) {
      expect(await send(forged)).toEqual([400, "This URL was not issued by this service."]);
    }
    expect(pollsDue()).toBe(0);
    expect(await settle()).toBe(0);
  });

  it("accepts repeated webhooks and webhooks of finished tasks without effect", async () => {
    const [first, second] = [await create(), await create()];
    const sent = [webhook(2), webhook(1), webhook(2), webhook(2), webhook(1)];
    const answers = await Promise.all(sent.map(send));
    expect(answers.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await settle()).toBe(2);
    const ended = [...context.service.database.tasks.values()].map(({ task }) => task);
    expect([first, second].map(stateOf)).toEqual(["generated", "generated"]);
    for (const late of sent) expect((await send(late))[0]).toBe(200);
    expect(await settle()).toBe(0);
    expect([...context.service.database.tasks.values()].map(({ task }) => task)).toEqual(ended);
  });

  it("accepts a webhook of an unknown task, so that the provider does not retry it for hours", async () => {
    await context.remote.provider.submit({ taskId: taskId(99), request: aCreationRequest(CREATION) });
    expect((await send(webhook()))[0]).toBe(200);
    expect(await settle()).toBe(0);
  });

  it("answers 404 for a provider that is not in use", async () => {
    await create();
    const { url, ...rest } = webhook();
    const sent = { ...rest, url: url.replace(`/hooks/${name}`, "/hooks/another") };
    expect(await send(sent)).toEqual([404, "No webhooks are accepted here."]);
    expect(await settle()).toBe(0);
  });

  it("refuses a body that is larger than any webhook", async () => {
    await create();
    const huge = { ...webhook(), body: "x".repeat(512 * 1024 + 1) };
    expect(await send(huge)).toEqual([400, "request body: must have at most 524288 bytes."]);
    expect(await settle()).toBe(0);
  });
});

describe.each(SIGNED)(
  "signed webhooks to POST /hooks/%s",
  (name, start: (clock: Clock) => Promise<SignedWebhooksUnderTest>) => {
    const { context, pollsDue, create, webhook, send, settle } = webhookSetup(name, start);

    it("changes nothing for a webhook with a wrong or an old signature", async () => {
      await create();
      const genuine = webhook();
      expect((await send({ ...genuine, body: `${genuine.body} ` }))[0]).toBe(400);
      // No poll is due yet.
      await context.service.clock.advance(2_000);
      expect((await send(context.remote.fake.webhook(context.remote.fake.tasks[0]!, new Date(0))))[0]).toBe(400);
      expect(pollsDue()).toBe(0);
      expect(await settle()).toBe(0);
    });

    it("answers 503 for a webhook that cannot be verified now, so that the provider retries it", async () => {
      await create();
      context.remote.keyFaults.push(FAULTS.failsBefore);
      const sent = webhook();
      expect(await send(sent)).toEqual([503, "The webhook cannot be verified now."]);
      await context.service.clock.advance(60_000);
      expect(await send(sent)).toEqual([200, "accepted"]);
    });
  },
);
