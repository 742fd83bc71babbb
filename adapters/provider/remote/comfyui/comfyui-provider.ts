import { err, ok, type Result } from "neverthrow";
import { SystemClock } from "../../../system/system-clock.js";
import { baseUrlOf, closeConnections, openConnections, remoteWith } from "../open-remote.js";
import type { CheckFailure, OpenProvider, RemoteOptions } from "../remote-options.js";
import { nameOf } from "../remote-provider.js";
import { namedWorkflow } from "../workflows/bundled-workflows.js";
import { comfyui } from "./comfyui.js";
import { ComfyuiServers } from "./comfyui-servers.js";

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
