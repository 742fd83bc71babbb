import { isActive, type Task } from "../../../domain/tasks/task.js";
import { type Text, words } from "../html.js";

/** The note for an unfinished panorama that takes longer than usual. */
export const lateNote = (task: Task): Text =>
  isActive(task)
    ? words`This takes longer than usual. If it fails, you get your ${task.reservation.credits} credits back.`
    : words`Saving takes longer than usual.`;
