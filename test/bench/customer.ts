import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

/** A client with an account of its own and 1,000 credits: a hundred 4k panoramas. */
export const aCustomer = async (service: Installation, name: string): Promise<RestClient> => {
  const { json, stderr } = await service.command(
    ...["account", "create", "--email", `${name}@example.com`, "--credits", "1000", "--key"],
  );
  if (typeof json.api_key !== "string") throw new Error(`no account was created: ${stderr}`);
  return new RestClient(service.url, json.api_key);
};
