import type { Config } from "./config.js";

const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** Whether other machines reach the service, and none of those is named as a proxy. */
export const isReachedDirectly = ({ host, trustedProxies }: Pick<Config, "host" | "trustedProxies">): boolean =>
  !LOOPBACK.test(host) && trustedProxies.every(([network]) => network.range() === "loopback");
