import { randomBytes } from "node:crypto";
import type { SandboxTrigger } from "./sandbox-trigger.js";

/** A temporary name contains the trigger that takes effect at the download, where only the name is known. */
const RESULT_NAME = /^[\w-]{22,}(?:\.(expired|no-thumb|storage-fail))?\.jpg$/;

/** Whether it may be the name of a result; any other text is no part of a path. */
export const isResultName = (name: string): boolean => RESULT_NAME.test(name);

/** A name that cannot be guessed. */
export const freshResultName = (trigger: SandboxTrigger | undefined): string => {
  const lasts = trigger === "expired" || trigger === "no-thumb" || trigger === "storage-fail";
  const suffix = lasts ? `.${trigger}` : "";
  return `${randomBytes(16).toString("base64url")}${suffix}.jpg`;
};

/** The trigger in the name of a result. */
export const triggerIn = (resultName: string): SandboxTrigger | undefined =>
  RESULT_NAME.exec(resultName)?.[1] as SandboxTrigger | undefined;
