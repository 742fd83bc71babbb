import { apiKeys } from "../../../application/accounts/api-keys.js";
import { deletions } from "../../../application/panoramas/deletions.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import { dayOf } from "../../../domain/credits/budget.js";
import { credits } from "../../../domain/credits/credits.js";
import type { TaskId } from "../../../domain/ids.js";
import { eventIdOf } from "../../../domain/tasks/account-event.js";
import { A_CREATION, type Customer, type HttpService } from "../../support/http-service.js";

/** One answer of a route that others do not give alike. */
export type Answer = {
  readonly to: string;
  readonly status: number;
  /** Of the error body. */
  readonly code?: string;
  readonly says?: RegExp;
  readonly of: (service: HttpService, customer: Customer) => Promise<Response>;
};

/** An operation of the REST interface. What is the same for all is in `rest-interface.test.ts`. */
export type Route = {
  /** As the OpenAPI description names it. */
  readonly operation: `${"GET" | "POST" | "DELETE"} ${string}`;
  readonly kind: "read" | "write";
  /** What a correct request has beyond method, path and key. */
  readonly request?: () => RequestInit;
  readonly answers: readonly Answer[];
};

const aForm = (): FormData => {
  const form = new FormData();
  form.append("files", new Blob([new Uint8Array([0xff, 0xd8, 0xff])], { type: "image/jpeg" }), "a.jpg");
  return form;
};

const finished = async (service: HttpService, customer: Customer, body: object = A_CREATION): Promise<string> => {
  const id = await service.created(customer, body);
  await service.settle();
  await service.keep();
  return id;
};
const failed = (service: HttpService, customer: Customer): Promise<string> => {
  service.provider.play({ poll: "failed" });
  return finished(service, customer);
};
const cancel = (service: HttpService, customer: Customer, id: string): Promise<Response> =>
  service.request(`/panoramas/${id}/cancel`, customer, { method: "POST" });
const remove = (service: HttpService, customer: Customer, id: string): Promise<Response> =>
  service.request(`/panoramas/${id}`, customer, { method: "DELETE" });
const get = (to: string, path: string): Answer => ({
  to,
  status: 200,
  of: (service, customer) => service.request(path, customer),
});
const limitOf0 = (path: string): Answer =>
  invalid("a limit of 0", /^limit: /, (service, customer) => service.request(`${path}?limit=0`, customer));
const invalid = (to: string, says: RegExp, of: Answer["of"]): Answer => ({
  to,
  status: 400,
  code: "invalid_request",
  says,
  of,
});

export const ROUTES: readonly Route[] = [
  {
    operation: "POST /panoramas",
    kind: "write",
    request: () => ({ body: JSON.stringify(A_CREATION) }),
    answers: [
      { to: "a creation", status: 202, of: (service, customer) => service.create(customer) },
      invalid("an empty object", /^resolution: /, (service, customer) => service.create(customer, {})),
      invalid("the idempotency key of a deleted panorama", /^Idempotency-Key: /, async (service, customer) => {
        const key = { "idempotency-key": "once" };
        const created = (await (await service.create(customer, A_CREATION, key)).json()) as { id: TaskId };
        await cancel(service, customer, created.id);
        (await deletions(service).delete(created.id, customer.accountId))._unsafeUnwrap();
        return service.create(customer, A_CREATION, key);
      }),
      {
        to: "an account with too few credits",
        status: 402,
        code: "insufficient_credits",
        says: /^This costs 4 credits, but the account has 1\. /,
        of: async (service) => service.create(await service.customer(1)),
      },
      ...(["day", "month"] as const).map((window) => ({
        to: `an API key whose budget of the ${window} is spent`,
        status: 402,
        code: "insufficient_credits",
        says: new RegExp(
          `^This costs 4 credits, but this API key may spend 5 credits per ${window} and has 1 left\\. The budget of the ${window} renews at \\d{4}-\\d\\d-\\d\\dT00:00:00Z\\.$`,
        ),
        of: async (service: HttpService, { accountId }: Customer) => {
          const budget = window === "day" ? { creditsPerDay: credits(5) } : { creditsPerMonth: credits(5) };
          const created = await apiKeys(service).createApiKey(accountId, "limited", { ...NO_LIMITS, ...budget });
          const limited = { accountId, key: created._unsafeUnwrap().secret };
          await service.created(limited);
          return service.create(limited);
        },
      })),
      invalid(
        "max_credits below the price",
        /^max_credits: is 3, but this panorama costs 4 credits; nothing was reserved\.$/,
        (service, customer) => service.create(customer, { ...A_CREATION, max_credits: 3 }),
      ),
      invalid("an idempotency key with a space", /^Idempotency-Key: /, (service, customer) =>
        service.create(customer, A_CREATION, { "idempotency-key": "a b" }),
      ),
      invalid("an idempotency key with another max_credits", /^Idempotency-Key: /, async (service, customer) => {
        const key = { "idempotency-key": "once" };
        await service.create(customer, { ...A_CREATION, max_credits: 10 }, key);
        return service.create(customer, { ...A_CREATION, max_credits: 20 }, key);
      }),
      {
        to: "an account with 2,000 failed creations on this day",
        status: 429,
        code: "rate_limited",
        says: /^Too many creations of this account have ended without a panorama today\. Creations are possible again at 00:00 UTC, in \d+ s\.$/,
        of: async (service, customer) => {
          const failures = [dayOf(service.clock.now()), 2_000, customer.accountId];
          await service.database.sql("update account set failure_day = ?, failures = ? where id = ?", failures);
          return service.create(customer);
        },
      },
      {
        to: "a sixth task in processing",
        status: 429,
        code: "too_many_active_tasks",
        says: /already has 5 tasks in processing/,
        of: async (service, customer) => {
          for (let n = 0; n < 5; n += 1) await service.created(customer);
          return service.create(customer);
        },
      },
      {
        to: "a creation that the provider refuses",
        status: 502,
        code: "upstream_error",
        of: (service, customer) => {
          service.provider.play({ submit: "refuse" });
          return service.create(customer);
        },
      },
    ],
  },
  {
    operation: "GET /panoramas",
    kind: "read",
    answers: [
      {
        to: "an account with tasks",
        status: 200,
        of: async (service, customer) => {
          await failed(service, customer);
          await service.created(customer);
          return service.request("/panoramas", customer);
        },
      },
      limitOf0("/panoramas"),
    ],
  },
  {
    operation: "GET /panoramas/{id}",
    kind: "read",
    answers: [
      {
        to: "a task that has succeeded",
        status: 200,
        of: async (service, customer) => {
          const id = await finished(service, customer, { ...A_CREATION, seed: 7, metadata: { order: "A-17" } });
          return service.request(`/panoramas/${id}`, customer);
        },
      },
      {
        to: "a task that has failed",
        status: 200,
        of: async (service, customer) => service.request(`/panoramas/${await failed(service, customer)}`, customer),
      },
    ],
  },
  {
    operation: "DELETE /panoramas/{id}",
    kind: "write",
    answers: [
      {
        to: "a finished task",
        status: 204,
        of: async (service, customer) => remove(service, customer, await finished(service, customer)),
      },
      invalid("a task in processing", /^id: is still being generated or stored; /, async (service, customer) =>
        remove(service, customer, await service.created(customer)),
      ),
    ],
  },
  {
    operation: "POST /panoramas/{id}/cancel",
    kind: "write",
    answers: [
      {
        to: "a task in processing",
        status: 200,
        of: async (service, customer) => cancel(service, customer, await service.created(customer)),
      },
    ],
  },
  {
    operation: "POST /images",
    kind: "write",
    request: () => ({ body: aForm() }),
    answers: [
      {
        to: "an image",
        status: 200,
        of: (service, customer) => service.request("/images", customer, { method: "POST", body: aForm() }),
      },
      invalid("JSON", /^Content-Type: /, (service, customer) =>
        service.request("/images", customer, { method: "POST", body: "{}" }),
      ),
    ],
  },
  {
    operation: "GET /panoramas/{id}/events",
    kind: "read",
    answers: [
      {
        to: "a finished task",
        status: 200,
        of: async (service, customer) =>
          service.request(`/panoramas/${await finished(service, customer)}/events`, customer),
      },
      {
        to: "a client that has the last event",
        status: 204,
        of: async (service, customer) => {
          const id = await finished(service, customer);
          const headers = { "last-event-id": eventIdOf({ accountId: customer.accountId, number: 2 }) };
          return service.request(`/panoramas/${id}/events`, customer, { headers });
        },
      },
    ],
  },
  {
    operation: "GET /events",
    kind: "read",
    answers: [get("an account", "/events")],
  },
  {
    operation: "GET /abilities",
    kind: "read",
    answers: [get("an account", "/abilities")],
  },
  {
    operation: "GET /credits",
    kind: "read",
    answers: [get("an account", "/credits")],
  },
  {
    operation: "GET /credits/entries",
    kind: "read",
    answers: [
      {
        to: "an account with entries",
        status: 200,
        of: async (service, customer) => {
          await failed(service, customer);
          return service.request("/credits/entries?limit=2", customer);
        },
      },
      limitOf0("/credits/entries"),
    ],
  },
];
