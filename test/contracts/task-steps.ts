import { aNativeSize, anImageName, noon, openATask, secondsAfter } from "../../adapters/contracts/support/builders.js";
import type { TaskPorts } from "../../application/ports/stores/stores.js";
import type { Lease } from "../../application/ports/stores/tasks/task-store.js";
import { keep, type UploadingImage } from "../../domain/images/storage-status.js";
import {
  type FailedTask,
  fail,
  finish,
  type SubmittedTask,
  type SubmittingTask,
  type SucceededTask,
  submit,
  succeed,
  type Task,
  withFigures,
  withImage,
} from "../../domain/tasks/task.js";

const FIGURES = { seam: 1, seamRatio: 1.5, poleDeviation: { zenith: 2, nadir: 3 }, horizon: 0.5 };

/** When tasks end, by these steps. */
export const end = secondsAfter(noon, 30);

/** The steps that bring a task into its states in the store, as the service does. Each throws if it is refused. */
export const taskSteps = (tasks: () => Pick<TaskPorts, "open" | "move">) => {
  const open = async (task: SubmittingTask, dueAt = end): Promise<SubmittingTask> => {
    const decide = (standing: Parameters<typeof openATask>[0]) =>
      openATask(standing, task, task.reservedAt, { place: task.place });
    (await tasks().open({ account: task.accountId, dueAt, decide }))._unsafeUnwrap();
    return task;
  };
  const move = async <Next extends Task>(task: Task | Lease<Task>, next: Next, dueAt?: Date): Promise<Next> => {
    (await tasks().move(task, next, dueAt))._unsafeUnwrap();
    return next;
  };
  const submitted = async (task: SubmittingTask): Promise<SubmittedTask> =>
    move(task, submit(task, `upstream-${numberOf(task)}`, secondsAfter(noon, 1)), noon);
  const failed = async (task: SubmittingTask, at = end): Promise<FailedTask> => move(task, fail(task, "refused", at));
  const succeeded = async (task: SubmittingTask): Promise<SucceededTask> => {
    const running = await submitted(task);
    const finished = finish(running, `https://p.example/${numberOf(task)}`);
    const generated = await move(running, withFigures(finished, FIGURES), end);
    return move(generated, succeed(generated, anImageName(numberOf(task)), aNativeSize, end), end);
  };
  const saved = async (task: SubmittingTask): Promise<SucceededTask> => {
    const done = await succeeded(task);
    return move(done, withImage(done, keep(done.image as UploadingImage)));
  };
  return { open, move, submitted, failed, succeeded, saved };
};

/** The `n` of `taskId(n)`. */
const numberOf = ({ id }: Task): number => Number.parseInt(id.slice(-12), 16);
