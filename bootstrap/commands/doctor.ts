import { ok, type Result } from "neverthrow";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import type { FailureKind, Finding } from "../doctor/finding.js";
import { thisMachine } from "../doctor/machine.js";
import { tokens } from "../tokens.js";
import type { Command, Output } from "./common/command.js";

export const doctor: Command = {
  words: "doctor",
  about:
    "Checks configuration, database, storage, provider, certificates, mail server and this machine, and says what to do. Changes nothing.",
  usage: "",
  options: {},
  required: [],
  example: "doctor",
  run: async (service) => {
    const config = await service.get(tokens.config);
    const { examine } = await import("../doctor/examine.js");
    // The database may not answer, so its clock is not used.
    const ports = { clock: new SystemClock(), ids: new RandomIds(), machine: thisMachine() };
    return outputOf(await examine(config, { ...ports, environment: process.env }));
  },
  runMisconfigured: async (problem) => {
    const { examineWithout } = await import("../doctor/examine.js");
    return outputOf(examineWithout(problem, thisMachine()));
  },
};

const outputOf = (findings: readonly Finding[]): Result<Output, never> => {
  const kind = worstOf(findings);
  const width = Math.max(...findings.map(({ name }) => name.length));
  const doubtful = findings.filter(({ status }) => status === "failed" || status === "warning").length;
  return ok({
    json: {
      status: kind !== undefined ? "failed" : doubtful > 0 ? "warning" : "ok",
      checks: findings.map(({ name, status, message }) => ({ name, status: status.replace(" ", "_"), message })),
    },
    lines: [
      ...findings.map(({ name, status, message }) => `${status.padEnd(11)}  ${name.padEnd(width)}  ${message}`),
      "",
      doubtful === 0
        ? "Nothing is wrong with what was checked."
        : `${doubtful} of ${findings.length} checks need attention.`,
    ],
    ...(kind !== undefined && { failed: kind }),
  });
};

/** A setting that must be changed counts before something that does not answer. */
const worstOf = (findings: readonly Finding[]): FailureKind | undefined => {
  const kinds = findings.flatMap((finding) => (finding.status === "failed" ? [finding.kind] : []));
  return (["configuration", "refused", "unreachable", "failed"] as const).find((kind) => kinds.includes(kind));
};
