import type { MakeServer } from "../request-source.js";

/** `native`: uWebSockets. `node`: `node:http`, which runs wherever Node.js does. */
export type ServerName = "native" | "node";

/** `reason`: one line that says why it is `node` although nobody chose it. */
export type LoadedServer = { readonly make: MakeServer; readonly name: ServerName; readonly reason?: string };

/**
 * Loads the chosen HTTP server. Without a choice, loads the native one, or `node:http` if the native one cannot be
 * loaded: its binaries exist only for some platforms, C libraries and versions of Node.js. Rejects with one sentence if
 * `native` is chosen and cannot be loaded.
 */
export const loadServer = async (choice: ServerName | undefined): Promise<LoadedServer> => {
  if (choice === "node") return nodeServer();
  try {
    const { NativeServer } = await import("./native-server/native-server.js");
    return { name: "native", make: (tls) => new NativeServer(tls) };
  } catch (error) {
    const reason = reasonOf(error);
    if (choice === undefined) return { ...(await nodeServer()), reason };
    throw new Error(
      `HTTP_SERVER is native, but the native HTTP server cannot be loaded: ${reason}. Set HTTP_SERVER=node, or leave it out.`,
    );
  }
};

const nodeServer = async (): Promise<LoadedServer> => {
  const { NodeServer } = await import("./node-server/node-server.js");
  return { name: "node", make: (tls) => new NodeServer(tls) };
};

/** uWebSockets appends the real error to a paragraph of its own, and Node.js appends a stack of modules. */
const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ""] = (message.split("\n\n").at(-1) ?? "").split("\n");
  return line.replace(/^Error: /, "").replace(/\.$/, "");
};
