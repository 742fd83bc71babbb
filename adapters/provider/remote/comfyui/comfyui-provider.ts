import { err, ok, type Result } from "neverthrow";
import { SystemClock } from "../../../system/system-clock.js";
import { baseUrlOf, closeConnections, headerSecret, openConnections, remoteWith } from "../open-remote.js";
import type { CheckFailure, OpenProvider, RemoteOptions } from "../remote-options.js";
import { comfyui } from "./comfyui.js";
import { ComfyuiServers } from "./comfyui-servers.js";
import { QWEN_IMAGE_360 } from "./qwen-image-360.js";
import { parseWorkflow } from "./workflow.js";

/** Options of ComfyUI. Only `baseUrls` is required. */
export type ComfyuiOptions = RemoteOptions & {
  /** Servers that run the same workflow; each is a place of its own. */
  readonly baseUrls: readonly [string, ...string[]];
  /** Of Comfy Cloud. Servers of your own need none. */
  readonly apiKey?: string | undefined;
  /**
   * The JSON of a workflow in ComfyUI's API format, with placeholders such as `{prompt}` (PROVIDERS.md). By default Qwen-Image
   * with a LoRA for panoramas.
   */
  readonly workflow?: unknown;
};

/**
 * Opens ComfyUI servers. A creation goes to the one with the shortest queue. Calls nothing yet: `check` asks each server for
 * the nodes and files of the workflow. They send no webhooks. Throws if an option cannot be right.
 */
export const comfyuiProvider = (options: ComfyuiOptions): OpenProvider => {
  const { clock = new SystemClock(), onEvent = () => {} } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  const workflow = parseWorkflow(options.workflow ?? QWEN_IMAGE_360);
  if (workflow.isErr()) throw new TypeError(`workflow: ${workflow.error}.`);
  const [first, ...others] = options.baseUrls;
  const connections = openConnections(options.baseUrls);
  const open = (baseUrl: string) => {
    const dialect = comfyui({ baseUrl: baseUrlOf(baseUrl), apiKey, workflow: workflow.value });
    return remoteWith(dialect, `comfyui ${dialect.name}`, { ...options, clock }, connections);
  };
  const servers = [open(first), ...others.map(open)] as const;
  const warn = (message: string) => onEvent({ kind: "fallback", provider: "comfyui", message });
  return Object.assign(new ComfyuiServers({ servers, clock, warn }), {
    webhooks: undefined,
    /** Of every server. A wrong setting counts more than an outage. */
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
