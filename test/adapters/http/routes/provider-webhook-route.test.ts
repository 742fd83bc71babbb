import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pollSubmittedTasks } from "../../../../application/background/poll-submitted-tasks.js";
import { providerWebhooks } from "../../../../application/background/receive-provider-webhook.js";
import { creations } from "../../../../application/panoramas/creations.js";
import { generationTime } from "../../../../application/panoramas/generation-time.js";
import { CREATION_SETTINGS } from "../../../support/application.js";
import { type SignedWebhook, sendWebhook } from "../../../support/fake-provider.js";
import { FAULTS } from "../../../support/faulty-server.js";
import { A_CREATION, type Customer, HttpService } from "../../../support/http-service.js";
import { startReplicate } from "../../../support/providers-under-test.js";

const LIMITS = { leaseMilliseconds: 60_000, concurrency: 10, generationDeadlineMilliseconds: 600_000 };

/** Which webhooks of each provider are genuine: `test/support/contracts/provider-webhooks-contract.ts`. */
describe("POST /hooks/{provider}", () => {
  let service: HttpService;
  let remote: Awaited<ReturnType<typeof startReplicate>>;
  let customer: Customer;
  let pollsDue: number;
  const ports = () => ({ ...service, provider: remote.provider });
  const wakePolls = () => {
    pollsDue += 1;
  };

  beforeEach(async () => {
    pollsDue = 0;
    service = await HttpService.start({
      panoramas: {
        create: (...creation) =>
          creations({ ...ports(), generationTime: generationTime() }, CREATION_SETTINGS).create(...creation),
        receiveProviderWebhook: (...webhook) => {
          const known = new Map([["replicate", remote.provider.webhooks!]]);
          return providerWebhooks({ ...service, providerWebhooks: known, wakePolls }).receiveProviderWebhook(
            ...webhook,
          );
        },
      },
    });
    remote = await startReplicate({ clock: service.clock, publicUrl: "https://panoramas.example" });
    customer = await service.customer();
  });
  afterEach(async () => {
    await remote.close();
    await service.end();
    expect(service.failures).toEqual([]);
  });

  const create = () => service.created(customer, A_CREATION);
  /** The webhook that the provider sends for its n-th task. */
  const webhook = (n = 1): SignedWebhook => remote.fake.webhook(remote.fake.tasks[n - 1]!, service.clock.now());
  const send = async (sent: SignedWebhook): Promise<[status: number, body: string]> => {
    const answer = await sendWebhook(sent, service.url);
    return [answer.status, await answer.text()];
  };
  /** Polls the tasks that are due now; returns their number. */
  const settle = () => pollSubmittedTasks(ports(), LIMITS);
  const ACCEPTED = [200, "accepted"];

  it("makes the task due for a poll immediately, whose answer counts and not the webhook", async () => {
    const id = await create();
    expect(await settle()).toBe(0);
    const { fake } = remote;
    fake.plan = "run";
    const early = { ...fake.tasks[0]!, state: "succeed" as const };
    expect(await send(fake.webhook(early, service.clock.now()))).toEqual(ACCEPTED);
    expect(pollsDue).toBe(1);
    expect(await settle()).toBe(1);
    const answer = await service.request(`/panoramas/${id}`, customer);
    expect(await answer.json()).toMatchObject({ status: "processing" });
  });

  it("changes nothing for a forged webhook and reveals nothing to its sender", async () => {
    await create();
    await create();
    const { url, ...rest } = webhook(1);
    const stolen = new URL(webhook(2).url).searchParams.get("proof") ?? "";
    for (const forged of [url.replace(/proof=\w+/, `proof=${stolen}`), url.replace(/\?.*/, "")]) {
      expect(await send({ ...rest, url: forged })).toEqual([400, "This URL was not issued by this service."]);
    }
    expect((await send({ url, ...rest, body: `${rest.body} ` }))[0]).toBe(400);
    await service.clock.advance(2_000); // no poll is due yet
    expect((await send(remote.fake.webhook(remote.fake.tasks[0]!, new Date(0))))[0]).toBe(400);
    expect(pollsDue).toBe(0);
    expect(await settle()).toBe(0);
  });

  it("refuses a webhook of an unused provider, and a too large one", async () => {
    await create();
    const { url, ...rest } = webhook();
    const other = url.replace("/hooks/replicate", "/hooks/another");
    expect(await send({ ...rest, url: other })).toEqual([404, "No webhooks are accepted here."]);
    const huge = { url, ...rest, body: "x".repeat(512 * 1024 + 1) };
    expect(await send(huge)).toEqual([400, "request body: must have at most 524288 bytes."]);
    expect(await settle()).toBe(0);
  });

  it("answers 503 to a webhook that cannot be verified now", async () => {
    await create();
    remote.fake.faults.keys.push(FAULTS.failsBefore);
    const sent = webhook();
    expect(await send(sent)).toEqual([503, "The webhook cannot be verified now."]);
    await service.clock.advance(60_000);
    expect(await send(sent)).toEqual(ACCEPTED);
  });
});
