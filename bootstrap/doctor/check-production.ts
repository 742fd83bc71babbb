import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.js";
import { nearestVariable } from "../config.js";
import { type Finding, fine, warning } from "./finding.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Retentions below this are asked about: a typo may have left a digit out. */
const RETENTION_DAYS_USUAL = 30;

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
    proxiesProblem(config, environment),
    retentionProblem(config),
    privacyProblem(config),
  ].filter((problem) => problem !== false);
  return problems.length === 0
    ? [fine("production", "The settings fit a service for customers.")]
    : problems.map((problem) => warning("production", problem));
};

const proxiesProblem = ({ host }: Config, { TRUSTED_PROXIES: list = "" }: Environment): string | false => {
  if (/(^|,)\s*(0\.0\.0\.0|::)\/0/.test(list)) {
    return "TRUSTED_PROXIES trusts everybody: clients can invent their address, and pass all limits of logins. Name the proxies.";
  }
  return list === "" && !/^(127\.|::1$|localhost$)/.test(host)
    ? `HOST is ${host}, and TRUSTED_PROXIES names no other machine: behind a proxy elsewhere, all users share one limit of logins. Set its address.`
    : false;
};

const retentionProblem = ({ retention: { finishedImagesDays } }: Config): string | false =>
  finishedImagesDays !== null && finishedImagesDays < RETENTION_DAYS_USUAL
    ? `Finished images are deleted after ${finishedImagesDays} days. If that is a typo, correct retention.finishedImagesDays; panorama retention show says how many.`
    : false;

const privacyProblem = ({ legalPagesFolder, retention: { deletedDays } }: Config): string | false => {
  if (deletedDays === 0 || legalPagesFolder === undefined) return false;
  const file = join(legalPagesFolder, "privacy.md");
  const says = existsSync(file) && readFileSync(file, "utf8").includes("{{deleted_images}}");
  return says
    ? false
    : `Deleted pictures are kept for ${deletedDays} days. Say so in ${file}: {{deleted_images}} is a sentence for it.`;
};

/** Variables that nobody reads, but whose names are nearly those of variables that are read. */
export const checkVariables = (environment: Environment): readonly Finding[] =>
  Object.keys(environment).flatMap((name) => {
    const meant = nearestVariable(name);
    return meant === undefined
      ? []
      : [warning("variables", `${name} is not a variable of the service. Did you mean ${meant}?`)];
  });
