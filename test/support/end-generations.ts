import { type FakeProvider, type Plan, sendWebhook, type UpstreamTask } from "./fake-provider.js";

const LOOK_MILLISECONDS = 20;

/**
 * Ends each generation of a fake so long after its start, and sends its webhook once to `origin`, if one is given: the
 * service may be down just then, and the real ones do not repeat their webhooks for long either. Returns what stops it.
 */
export const endGenerations = (
  fake: FakeProvider,
  milliseconds: number,
  { planOf = () => "succeed", origin }: { planOf?: (n: number) => Plan; origin?: () => string | undefined } = {},
): (() => void) => {
  const ended = new Set<UpstreamTask>();
  const timer = setInterval(() => {
    const now = Date.now();
    for (const task of fake.tasks) {
      if (ended.has(task) || now - (task.createdAt?.getTime() ?? now) < milliseconds) continue;
      ended.add(task);
      task.state = planOf(ended.size);
      const to = origin?.();
      if (to !== undefined) sendWebhook(fake.webhook(task, new Date()), to).catch(() => {});
    }
  }, LOOK_MILLISECONDS);
  return () => clearInterval(timer);
};
