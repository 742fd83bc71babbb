import { err, ok, type Result } from "neverthrow";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { parseReport } from "../../domain/tasks/report.js";
import type { Slug } from "../../domain/tasks/slug.js";
import { isInGallery, type Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import { partyNamed } from "../party-named.js";
import type { Clock } from "../ports/clock.js";
import type { Secrets } from "../ports/secrets.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import type { RateLimits } from "../ports/stores/rate-limits.js";
import type { ReportedTask, ReportStore } from "../ports/stores/report-store.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

type ReportPorts = {
  readonly rateLimits: RateLimits;
  readonly secrets: Pick<Secrets, "sha256">;
  readonly tasks: Pick<TaskStore, "findBySlug">;
  readonly reports: Pick<ReportStore, "file">;
  readonly clock: Pick<Clock, "now">;
};

/** What a visitor sends. `network`: of the visitor. */
export type SentReport = { readonly reason: string; readonly text: string; readonly network: string };

/** A visitor reports a public panorama. Whether the network has reported it before is not told. */
export const reportPanorama =
  ({ tasks, reports, rateLimits, secrets, clock }: ReportPorts) =>
  async (slug: Slug, sent: SentReport): Promise<Result<void, NotFound | InvalidRequest | RateLimited>> => {
    const content = parseReport(sent.reason, sent.text);
    if (content.isErr()) return err(content.error);
    const admitted = await rateLimits.admit(partyNamed(secrets, `address ${sent.network}`), "report");
    if (admitted.isErr()) return err(admitted.error);
    const task = await tasks.findBySlug(slug);
    if (task === undefined || !isInGallery(task)) return err(notFound(`There is no public panorama ${slug}.`));
    await reports.file({ ...content.value, taskId: task.id, network: sent.network, at: clock.now() });
    return ok(undefined);
  };

/** Reports of one panorama that an operator is shown. */
const SHOWN_MAX = 10;

/** For the operator: the panoramas with open reports, the longest waiting first. */
export const listReports =
  ({ reports }: { readonly reports: Pick<ReportStore, "open"> }) =>
  (limit: number): Promise<ReportedTask[]> =>
    reports.open(limit, SHOWN_MAX);

type DismissPorts = {
  readonly operators: Pick<OperatorStore, "record">;
  readonly reports: Pick<ReportStore, "dismiss">;
  readonly clock: Pick<Clock, "now">;
};

/** For the operator: the panorama, by its slug or id, stays as it is. Its open reports end. */
export const dismissReports =
  ({ operators, reports, clock }: DismissPorts) =>
  async (slugOrId: string): Promise<Result<Task, NotFound>> => {
    const refused = notFound(`There is no open report of a panorama ${slugOrId}.`);
    const record = await operators.record(slugOrId);
    if (record === undefined) return err(refused);
    return (await reports.dismiss(record.task.id, clock.now())).map(() => record.task).mapErr(() => refused);
  };
