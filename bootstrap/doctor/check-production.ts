import { type Config, isReachedDirectly, nearestVariable } from "../config.js";
import { type Finding, fine, warning } from "./finding.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that are valid, and that an operator with customers hardly wants. With `NODE_ENV=production` only. */
export const checkProduction = (config: Config, environment: Environment): readonly Finding[] => {
  if (environment.NODE_ENV !== "production") return [];
  const problems = [
    config.provider.kind === "local" &&
      "PROVIDER is local, which paints simple pictures for a try. Choose one of PROVIDERS.md.",
    config.publicUrl.startsWith("http://") &&
      `PUBLIC_URL ${config.publicUrl} is not https: passwords and keys are sent readable for all. Set the https URL of the proxy.`,
    config.legalPagesFolder === undefined &&
      "LEGAL_PAGES_DIR is not set: there are no terms, privacy and contact pages, which many countries demand.",
    config.gallery === "open" &&
      config.operatorEmail === undefined &&
      "OPERATOR_EMAIL is not set: the gallery is open, and visitors cannot report what is wrong in it. Set your address.",
    proxiesProblem(config, environment),
  ].filter((problem) => problem !== false);
  return problems.length === 0
    ? [fine("production", "The settings fit a service for customers.")]
    : problems.map((problem) => warning("production", problem));
};

const proxiesProblem = (config: Config, { TRUSTED_PROXIES: list = "" }: Environment): string | false => {
  if (/(^|,)\s*(0\.0\.0\.0|::)\/0/.test(list)) {
    return "TRUSTED_PROXIES trusts everybody: clients can invent their address, and pass all limits of logins. Name the proxies.";
  }
  return isReachedDirectly(config)
    ? `HOST is ${config.host}, and TRUSTED_PROXIES names no other machine: behind a proxy elsewhere, all users share one limit of logins. Set its address.`
    : false;
};

/** Unknown variables whose names are similar to known ones: probably typing errors. */
export const checkVariables = (environment: Environment): readonly Finding[] =>
  Object.keys(environment).flatMap((name) => {
    const meant = nearestVariable(name);
    return meant === undefined
      ? []
      : [warning("variables", `${name} is not a variable of the service. Did you mean ${meant}?`)];
  });
