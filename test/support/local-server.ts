import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on a free port of this machine. `close` also ends its connections. */
export type LocalServer = { readonly server: Server; readonly origin: string; close(): Promise<void> };

export const startLocalServer = async (listener: RequestListener): Promise<LocalServer> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};
