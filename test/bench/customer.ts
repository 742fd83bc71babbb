import type { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

/** A client with an account of its own and 1,000 credits: a hundred 4k panoramas. */
export const aCustomer = async (service: Installation, name: string): Promise<RestClient> =>
  (await service.customer(`${name}@example.com`, 1000)).client;
