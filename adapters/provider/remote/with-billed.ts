import type { Billed } from "../../../domain/tasks/generation-cost.js";
import type { Report } from "./dialect.js";

/** The report of a generation that has ended, with what the provider bills for it. Others are as they were. */
export const withBilled = (report: Report, billed: Billed | undefined): Report =>
  billed !== undefined &&
  (report.state === "succeeded" || report.state === "failed" || report.state === "misunderstood")
    ? { ...report, billed }
    : report;
