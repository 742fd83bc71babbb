import type { Brand } from "./brand.js";

export type TaskId = Brand<string, "TaskId">;
