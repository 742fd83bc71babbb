import { loadServer } from "../../adapters/http/servers/load-server.js";
import { readConfig } from "../../bootstrap/config.js";

const { httpServer } = readConfig({ HTTP_SERVER: process.env.HTTP_SERVER })._unsafeUnwrap();

/** The HTTP server under test: `HTTP_SERVER=node npm test` runs every test on `node:http`. */
export const { make: makeServer, name: serverName } = await loadServer(httpServer);
