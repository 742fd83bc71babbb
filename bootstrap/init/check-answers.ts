import { lookup } from "node:dns/promises";
import type { Clock } from "../../application/ports/clock.js";
import type { Ids } from "../../application/ports/ids.js";
import type { Config } from "../config.js";
import { checkDatabase } from "../doctor/check-database.js";
import { checkMail } from "../doctor/check-mail.js";
import { checkProvider } from "../doctor/check-provider.js";
import { checkStorage } from "../doctor/check-storage.js";
import { broken, type Finding, fine, reasonOf, warning } from "../doctor/finding.js";

type Ports = { readonly clock: Clock; readonly ids: Pick<Ids, "unguessable"> };

/**
 * What `panorama doctor` says about the answers to a topic of questions.ts. What needs the running service or its proxy
 * is left out.
 */
export const checkTopic = async (topic: string, config: Config, { clock, ids }: Ports): Promise<readonly Finding[]> => {
  switch (topic) {
    case "name":
      return [await checkName(config)];
    case "database":
      if (config.databaseUrl === undefined) return [fine("database", "The database is a file of the service.")];
      return (await checkDatabase(config, clock)).filter(({ name }) => name === "database" || name === "clock");
    case "storage":
      if (config.storage.kind === "filesystem") return [fine("storage", "Images are files of the service.")];
      return (await checkStorage(config, ids)).filter(({ name }) => name === "storage");
    case "provider":
      if (config.provider.kind === "local")
        return [warning("provider", "PROVIDER=local paints simple pictures, for a try. Customers expect another one.")];
      return checkProvider(config);
    case "mail":
      return checkMail(config);
    default:
      return [];
  }
};

/** Whether the host of PUBLIC_URL has an address. It may still be that of another machine. */
const checkName = async ({ publicUrl }: Config): Promise<Finding> => {
  const { hostname } = new URL(publicUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  try {
    const addresses = await lookup(host, { all: true });
    return fine("name", `${host} is ${addresses.map(({ address }) => address).join(", ")}.`);
  } catch (error) {
    return broken(
      "name",
      "unreachable",
      `${host} has no address: ${reasonOf(error)}. Add an A or AAAA record, or correct PUBLIC_URL.`,
    );
  }
};
