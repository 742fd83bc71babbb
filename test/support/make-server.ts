import { loadServer } from "../../adapters/http/servers/load-server.js";
import { readConfig } from "../../bootstrap/config.js";
import { FetchServer } from "./fetch-server.js";

/** `fetch` is no server: tests of the routes run over it, too. */
const load = async () => {
  if (process.env.HTTP_SERVER === "fetch") return { make: () => new FetchServer(), name: "fetch" };
  return loadServer(readConfig({ HTTP_SERVER: process.env.HTTP_SERVER })._unsafeUnwrap().httpServer);
};

/** The HTTP server under test: `HTTP_SERVER=node npm test` runs every test on `node:http`. */
export const { make: makeServer, name: serverName } = await load();
