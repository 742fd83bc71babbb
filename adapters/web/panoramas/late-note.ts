import { isActive, type Task } from "../../../domain/tasks/task.js";

/** The note for an unfinished panorama that takes longer than usual. */
export const lateNote = (task: Task): string =>
  isActive(task)
    ? `This takes longer than usual. If it fails, you get your ${task.reservation.credits} credits back.`
    : "Saving takes longer than usual.";
