import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { HttpServerParts, HttpServerSettings } from "../../adapters/http/http-server.js";
import type { Dependency } from "../../adapters/http/routes/operations-routes.js";
import { MemoryImaging } from "../../adapters/memory/memory-imaging.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import type { PageReply, WebSide } from "../../adapters/web-page/page.js";
import { whenReady } from "../../application/awaitable.js";
import { streamWatch } from "../../application/background/watch-changes.js";
import type { Application, UseCases } from "../../application/create-application.js";
import type { AccountId } from "../../domain/ids.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { TestService } from "./test-service.js";

export type Customer = { readonly accountId: AccountId; readonly key: string };

const htmlReply = (status: number, body: string): PageReply => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  body,
});

/** A web side without pages of its own. */
export const NO_PAGES: WebSide = {
  pages: [],
  notFound: async () => htmlReply(404, "<p>no such page</p>"),
  failed: (requestId) => htmlReply(500, `<p>failed: ${requestId}</p>`),
  limited: (seconds) => htmlReply(429, `<p>again in ${seconds} s</p>`),
  busy: (seconds) => htmlReply(429, `<p>busy: ${seconds}</p>`),
};

type Groups = Pick<UseCases, "accounts" | "panoramas" | "credits" | "events">;

/** What a test replaces: parts of the server, and single use cases. */
type Replaced = Partial<Omit<HttpServerParts, keyof Groups>> & {
  readonly [Group in keyof Groups]?: Partial<Groups[Group]>;
};

/**
 * The HTTP server on a free port, without pages. `calls` counts the calls of each use case of a panorama.
 */
export class HttpService extends TestService {
  readonly storage = new MemoryObjectStorage();
  readonly imaging = new MemoryImaging();
  readonly provider = new ScriptedProvider();
  readonly secrets = new NodeSecrets();
  readonly calls: Record<string, number> = { readTask: 0 };
  checks: () => Promise<readonly Dependency[]> = async () => [{ name: "database", ok: true, detail: "answers" }];
  /** Runs once a second in the service. */
  readonly watchStreams = streamWatch(this).watchStreams;
  /** The use cases that the routes call, to mount them elsewhere. */
  readonly application: Groups & Pick<Application, "policy">;
  private readonly parts: Partial<HttpServerParts>;

  private constructor(folder: string, { accounts, panoramas, credits, events, ...parts }: Replaced) {
    super(folder);
    const { policy, webhookPrivateOrigins, referenceRetentionHours, ...useCases } = this.useCases(new ManualPayments());
    const { admitApiRequest } = useCases.accounts;
    this.application = {
      policy,
      accounts: {
        ...useCases.accounts,
        admitApiRequest: (apiKey, kind, task) =>
          whenReady(admitApiRequest(apiKey, kind, task), (admitted) => {
            if (admitted.isOk() && task !== undefined) this.calls.readTask = (this.calls.readTask ?? 0) + 1;
            return admitted;
          }),
        ...accounts,
      },
      panoramas: { ...this.counted(useCases.panoramas), forecast: useCases.panoramas.forecast, ...panoramas },
      credits: { ...this.counted(useCases.credits), ...credits },
      events: { ...useCases.events, ...events },
    };
    this.parts = { webhookPrivateOrigins, referenceRetentionHours, checks: () => this.checks(), ...parts };
  }

  static async start(replaced: Replaced = {}, settings: Partial<HttpServerSettings> = {}): Promise<HttpService> {
    const service = new HttpService(await mkdtemp(join(tmpdir(), "panorama-http-")), replaced);
    const parts = { web: NO_PAGES, ...service.application, ...service.parts };
    await service.serve(parts, { publicUrl: "https://panoramas.example", ...settings });
    return service;
  }

  get port(): number {
    return this.server?.port ?? 0;
  }

  get tlsPort(): number {
    return this.server?.tlsPort ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Creates an account with a paid order and an API key. */
  async customer(amount = 100): Promise<Customer> {
    const { id, key } = await this.opened(`${this.ids.accountId()}@example.com`, amount, "test");
    return { accountId: id, key };
  }

  /** Sends a request to the REST interface with the API key of the customer. */
  request(path: string, customer: Customer, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${customer.key}`, ...init.headers };
    return fetch(`${this.url}/api/v1${path}`, { ...init, headers });
  }

  create(customer: Customer, body: unknown = A_CREATION, headers: Record<string, string> = {}): Promise<Response> {
    return this.request("/panoramas", customer, { method: "POST", body: JSON.stringify(body), headers });
  }

  /** Creates a task and returns its id. Throws if it is refused. */
  async created(customer: Customer, body: unknown = A_CREATION): Promise<string> {
    const response = await this.create(customer, body);
    if (response.status !== 202) throw new Error(await response.text());
    return ((await response.json()) as { id: string }).id;
  }

  private counted<Group extends Readonly<Record<string, (...args: never[]) => unknown>>>(group: Group): Group {
    const counting = Object.entries(group).map(([name, useCase]) => {
      this.calls[name] = 0;
      const count = (...args: never[]) => {
        this.calls[name] = (this.calls[name] ?? 0) + 1;
        return useCase(...args);
      };
      return [name, count];
    });
    return Object.fromEntries(counting) as Group;
  }
}

export const A_CREATION = { resolution: "1k", prompt: "a quiet lake at dawn" };

/** Serves the objects of a storage in memory. */
export const assetsOf = (storage: MemoryObjectStorage) => ({
  stat: async (name: ObjectName) =>
    (await storage.read(name)).map(({ length }) => ({
      sizeBytes: length,
      contentType: storage.objects.get(name)?.contentType ?? "",
    })),
  stream: (name: ObjectName, start: number, end: number) =>
    Readable.from([Buffer.from(storage.objects.get(name)?.bytes ?? []).subarray(start, end + 1)]),
});
