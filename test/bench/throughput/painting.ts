import type { RestClient } from "../../support/rest-client.js";

/**
 * Does the work while each customer has a 4k panorama in progress: a new one is created as soon as the last one is
 * saved. Resolves to the result of the work when the last panoramas are saved.
 */
export const whilePainting = async <T>(customers: readonly RestClient[], work: () => Promise<T>): Promise<T> => {
  let working = true;
  const paint = async (customer: RestClient): Promise<void> => {
    while (working) {
      const { id } = await customer.create({ prompt: "a quiet lake at sunset with mountains", resolution: "4k" });
      const task = await customer.untilKept(id);
      if (task.output?.storage_status !== "saved") throw new Error(`it was not saved: ${JSON.stringify(task)}`);
    }
  };
  const painting = Promise.all(customers.map(paint));
  const [result] = await Promise.all([
    work().finally(() => {
      working = false;
    }),
    painting,
  ]);
  return result;
};
