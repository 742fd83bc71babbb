import { loadServer } from "../../adapters/http/servers/load-server.js";
import { readConfig } from "../../bootstrap/config.js";
import { FetchServer } from "./fetch-server.js";

/** `fetch` is no server: tests of the routes run over it, too. */
export const loadServerNamed = async (server: string | undefined) => {
  if (server === "fetch") return { make: () => new FetchServer(), name: "fetch" };
  return loadServer(readConfig({ HTTP_SERVER: server })._unsafeUnwrap().httpServer);
};

/** The HTTP server under test: `HTTP_SERVER=node npm test` runs every test on `node:http`. */
export let { make: makeServer, name: serverName } = await loadServerNamed(process.env.HTTP_SERVER);

/** Changes the server under test for what is collected from now on. Without a name, back to the usual one. */
export const testOn = async (server = process.env.HTTP_SERVER): Promise<void> => {
  ({ make: makeServer, name: serverName } = await loadServerNamed(server));
};
