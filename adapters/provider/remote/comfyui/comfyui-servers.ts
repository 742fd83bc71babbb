import { err, type Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";
import type {
  GenerationOrder,
  GenerationProvider,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { ProviderChain } from "../../provider-chain.js";
import type { RemoteProvider } from "../remote-provider.js";
import { queueOf } from "./comfyui.js";

/** A server that does not tell its queue within this time gets no creation while another one does. */
const QUEUE_MILLISECONDS_MAX = 2_000;

type Servers = readonly [RemoteProvider, ...RemoteProvider[]];

export type ComfyuiServersParts = {
  readonly servers: Servers;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** `undefined` selects the sum of all servers. */
  readonly concurrencyMax: number | undefined;
};

/**
 * ComfyUI servers with the same workflow. A creation goes to the server with the shortest queue, and to the next one only
 * if that has certainly not started it. An upstream task id is `{server}:{prompt id}`.
 */
export class ComfyuiServers implements GenerationProvider {
  readonly name = "comfyui";
  readonly concurrencyMax: number;
  readonly callsPerSecond: GenerationProvider["callsPerSecond"];
  readonly readiness: GenerationProvider["readiness"];
  readonly nextPollMilliseconds: GenerationProvider["nextPollMilliseconds"];
  readonly canMake: GenerationProvider["canMake"];
  readonly poll: GenerationProvider["poll"];
  readonly search: GenerationProvider["search"];
  readonly download: GenerationProvider["download"];
  readonly cancel: NonNullable<GenerationProvider["cancel"]>;
  private readonly parts: ComfyuiServersParts;
  /** Creations that are being sent: they are not in the server's queue yet. */
  private readonly sending = new Map<GenerationProvider, number>();

  constructor(parts: ComfyuiServersParts) {
    const { servers, warn } = parts;
    this.parts = parts;
    this.concurrencyMax =
      parts.concurrencyMax ?? servers.reduce((sum, { concurrencyMax = 1 }) => sum + concurrencyMax, 0);
    const all = new ProviderChain(servers, warn);
    this.callsPerSecond = all.callsPerSecond;
    this.readiness = () => all.readiness();
    this.nextPollMilliseconds = (id, since) => all.nextPollMilliseconds(id, since);
    this.canMake = (request) => all.canMake(request);
    this.poll = (id) => all.poll(id);
    this.search = (taskId, since) => all.search(taskId, since);
    this.download = (url, id) => all.download(url, id);
    this.cancel = (id) => all.cancel(id);
  }

  async submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>> {
    const [first, ...others] = await this.inOrder();
    if (first === undefined) {
      const anyBusy = this.parts.servers.some((server) => server.readiness() === "busy");
      return err({ kind: anyBusy ? "busy" : "refused", reason: "no ComfyUI server answers" });
    }
    this.count(first, 1);
    try {
      return await new ProviderChain([first, ...others], this.parts.warn).submit(order, submissionDeadline);
    } finally {
      this.count(first, -1);
    }
  }

  /** The servers that answer, the one with the shortest queue first. */
  private async inOrder(): Promise<readonly RemoteProvider[]> {
    const { servers } = this.parts;
    // Nothing to choose: the creation itself finds out whether the server answers.
    if (servers.length === 1) return servers;
    const queues = await Promise.all(servers.map((server) => this.queueLength(server)));
    return servers
      .flatMap((server, index) => {
        const length = queues[index];
        return length === undefined ? [] : [{ server, load: length + (this.sending.get(server) ?? 0) }];
      })
      .sort((a, b) => a.load - b.load)
      .map(({ server }) => server);
  }

  private async queueLength(server: RemoteProvider): Promise<number | undefined> {
    const ended = new AbortController();
    const timeout = this.parts.clock.sleep(QUEUE_MILLISECONDS_MAX, ended.signal);
    const queue = await Promise.race([queueOf(server.read), timeout]);
    ended.abort();
    return queue?.isOk() ? queue.value.length : undefined;
  }

  private count(server: GenerationProvider, difference: number): void {
    this.sending.set(server, (this.sending.get(server) ?? 0) + difference);
  }
}
