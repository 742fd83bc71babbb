import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";
import type {
  GenerationOrder,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { SystemClock } from "../../../system/system-clock.js";
import { holderFirst, ProviderChain, submitInOrder } from "../../provider-chain.js";
import { baseUrlOf, closeConnections, openConnections, remoteWith } from "../open-remote.js";
import type { CheckFailure, OpenProvider, RemoteOptions } from "../remote-options.js";
import { nameOf, type RemoteProvider } from "../remote-provider.js";
import { namedWorkflow } from "../workflows/bundled-workflows.js";
import { comfyui, queueOf } from "./comfyui.js";

/** Options of ComfyUI. Only `baseUrls` is required. */
export type ComfyuiOptions = RemoteOptions & {
  /** Servers that run the same workflow; each is a place of its own. */
  readonly baseUrls: readonly [string, ...string[]];
  /**
   * `qwen-image-360` (the default: from text), `qwen-image-edit` (from text and up to three images), or the JSON of
   * another workflow in ComfyUI's API format, with placeholders such as `{prompt}` (PROVIDERS.md).
   */
  readonly workflow?: unknown;
};

/**
 * Opens ComfyUI servers of your own. A creation goes to the one with the shortest queue. Calls nothing yet: `check`
 * asks each server for the nodes and files of the workflow. They send no webhooks. Throws if an option cannot be right.
 */
export const comfyuiProvider = (options: ComfyuiOptions): OpenProvider => {
  const { clock = new SystemClock(), onEvent = () => {} } = options;
  const workflow = namedWorkflow(options.workflow ?? "qwen-image-360");
  const [first, ...others] = options.baseUrls;
  const connections = openConnections(options.baseUrls, options.userAgent);
  const open = (baseUrl: string) => {
    const dialect = comfyui({ baseUrl: baseUrlOf(baseUrl), workflow });
    return remoteWith({
      dialect,
      name: `comfyui ${nameOf(dialect)}`,
      options: { ...options, clock },
      connections,
      webhookUrls: undefined,
    });
  };
  const servers = [open(first), ...others.map(open)] as const;
  const warn = (message: string) => onEvent({ kind: "fallback", provider: "comfyui", message });
  return Object.assign(new ComfyuiServers({ servers, clock, warn }), {
    webhooks: undefined,
    /** Checks every server. A wrong setting is reported before an outage. */
    check: async (): Promise<Result<void, CheckFailure>> => {
      const checked = await Promise.all(servers.map(async (server) => ({ server, result: await server.check() })));
      const failures = checked.flatMap(({ server, result }) =>
        result.isErr() ? [{ server: server.name, ...result.error }] : [],
      );
      const wrong = failures.find(({ kind }) => kind === "misconfigured");
      if (wrong !== undefined) return err({ kind: wrong.kind, reason: wrong.reason });
      const reason = failures.map((failure) => `${failure.server}: ${failure.reason}`).join("; ");
      return failures.length === 0 ? ok(undefined) : err({ kind: "unchecked", reason });
    },
    close: () => closeConnections(connections),
  });
};

/** A server that does not tell its queue within this time gets no creation while another one does. */
const QUEUE_MILLISECONDS_MAX = 2_000;

type Servers = readonly [RemoteProvider, ...RemoteProvider[]];

type ComfyuiServersParts = {
  readonly servers: Servers;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
};

/**
 * ComfyUI servers with the same workflow. Each is a place. A creation goes to the server with the shortest queue that
 * has a free slot, and to the next one only if that has certainly not started it. An upstream task id is
 * `{server}:{prompt id}`.
 */
export class ComfyuiServers extends ProviderChain {
  private readonly servers: Servers;
  private readonly clock: Clock;

  constructor({ servers, clock, warn }: ComfyuiServersParts) {
    super(servers, warn, "comfyui");
    this.servers = servers;
    this.clock = clock;
  }

  /** Servers delete nothing, so a removed server does not have to be configured again. */
  override async discard(): Promise<Result<void, ProviderUnavailable>> {
    return ok(undefined);
  }

  override async submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>> {
    const inOrder = await this.inOrder(order.place);
    if (inOrder.length > 0) return submitInOrder(inOrder, this.warn, order, submissionDeadline);
    const anyBusy = this.servers.some((server) => server.readiness() === "busy");
    const reason = "no ComfyUI server answers";
    return err(anyBusy ? { kind: "busy", reason } : { kind: "refused", reason, cause: "provider_unavailable" });
  }

  /** The servers that answer, the shortest queue first; of equal ones the server of the place. */
  private async inOrder(place: string | undefined): Promise<readonly RemoteProvider[]> {
    const { servers } = this;
    // Nothing to choose: the creation itself finds out whether the server answers.
    if (servers.length === 1) return servers;
    const asked = holderFirst(servers, place).map(async (server) => ({
      server,
      length: await this.queueLength(server),
    }));
    return (await Promise.all(asked))
      .flatMap(({ server, length }) => (length === undefined ? [] : [{ server, length }]))
      .sort((a, b) => a.length - b.length)
      .map(({ server }) => server);
  }

  private async queueLength(server: RemoteProvider): Promise<number | undefined> {
    const ended = new AbortController();
    const timeout = this.clock.sleep(QUEUE_MILLISECONDS_MAX, ended.signal);
    const queue = await Promise.race([queueOf(server.read), timeout]);
    ended.abort();
    return queue?.isOk() ? queue.value.length : undefined;
  }
}
