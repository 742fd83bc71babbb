import { ok } from "neverthrow";
import type { GenerationOrder, GenerationProvider } from "../../application/ports/generation-provider.js";
import { imageTypeOf } from "../../domain/images/image-type.js";
import { resultUrlOf } from "../../domain/images/picture.js";
import { noon, taskId } from "./support/builders.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

/** Expected outcome of an order. */
export type OrderedOutcome = "succeed" | "fail" | "be refused" | "expire";

/** The provider under test, and what the suite needs to know about it. */
export type Subject = {
  readonly provider: GenerationProvider;
  /** True if the provider can search for its tasks. `finished`: only for ended ones. */
  readonly searchable: boolean | "finished";
  /** The id that a search finds for this submitted id. Default: the same id. */
  readonly foundAs?: ((upstreamTaskId: string) => string) | undefined;
  /** An order for the n-th task that ends with this outcome. */
  order(n: number, outcome: OrderedOutcome): GenerationOrder;
  /** Makes the temporary URL of an order "expire" do so; absent if the order is enough. */
  expire?(temporaryUrl: string): Promise<void>;
  /** Resolves when every submitted generation has ended. */
  allEnded(): Promise<void>;
  close(): Promise<void>;
};

/** Contract of every generation provider. `open` returns an unused one. */
export const generationProviderContract = (
  { describe, it, afterEach }: Omit<TestFunctions, "beforeEach">,
  name: string,
  open: () => Promise<Subject>,
): void => {
  describe(`${name} as a GenerationProvider`, () => {
    let subject: Subject;
    const opened = async (): Promise<Subject> => {
      subject = await open();
      return subject;
    };
    afterEach(() => subject.close());

    it("generates every request that checkRequest accepts, and the image can be downloaded", async () => {
      const { provider, order, allEnded } = await opened();
      const wanted = order(1, "succeed");
      expect(provider.checkRequest(wanted.request).isOk()).toBe(true);
      const id = (await provider.submit(wanted))._unsafeUnwrap();
      expect(id).not.toBe("");
      await allEnded();
      const progress = (await provider.poll(id))._unsafeUnwrap();
      if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
      const { temporaryUrl } = progress;
      if (resultUrlOf(temporaryUrl) === undefined) {
        throw new Error(`The temporary URL ${temporaryUrl} is no http or https URL, so every task would fail.`);
      }
      const downloaded = await provider.download(temporaryUrl, id);
      if (downloaded.isErr()) throw new Error(`${temporaryUrl} cannot be downloaded: ${downloaded.error.reason}`);
      expect(imageTypeOf(downloaded.value.bytes)).toBe("image/jpeg");
    });

    it("reports a failed generation with the same reason at every poll", async () => {
      const { provider, order, allEnded } = await opened();
      const id = (await provider.submit(order(1, "fail")))._unsafeUnwrap();
      await allEnded();
      const failed = (await provider.poll(id))._unsafeUnwrap();
      if (failed.state !== "failed") throw new Error(`The generation is ${JSON.stringify(failed)}.`);
      expect(failed).toEqual({ state: "failed", reason: expect.stringMatching(/./), cause: failed.cause });
      expect((await provider.poll(id))._unsafeUnwrap()).toEqual(failed);
    });

    it("reports a rejected creation as refused", async () => {
      const { provider, order } = await opened();
      expect((await provider.submit(order(1, "be refused")))._unsafeUnwrapErr()).toEqual({
        kind: "refused",
        reason: expect.stringMatching(/./),
      });
    });

    it("finds an upstream task by the task id, or reports that it cannot tell", async () => {
      const { provider, searchable, foundAs = (id: string) => id, order, allEnded } = await opened();
      const first = (await provider.submit(order(1, "succeed")))._unsafeUnwrap();
      const second = (await provider.submit(order(2, "succeed")))._unsafeUnwrap();
      expect(first).not.toBe(second);
      if (searchable !== true) {
        if (!searchable) await allEnded();
        expect((await provider.search(taskId(1), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        if (!searchable) return;
        await allEnded();
      }
      expect((await provider.search(taskId(1), noon))._unsafeUnwrap()).toBe(foundAs(first));
      expect((await provider.search(taskId(2), noon))._unsafeUnwrap()).toBe(foundAs(second));
      const third = await provider.search(taskId(3), noon);
      if (searchable === true) expect(third._unsafeUnwrap()).toBeUndefined();
      else expect(third._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    });

    it("reports an expired result as result_gone", async () => {
      const { provider, order, allEnded, expire } = await opened();
      const id = (await provider.submit(order(1, "expire")))._unsafeUnwrap();
      await allEnded();
      const progress = (await provider.poll(id))._unsafeUnwrap();
      if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
      await expire?.(progress.temporaryUrl);
      expect((await provider.download(progress.temporaryUrl, id))._unsafeUnwrapErr().kind).toBe("result_gone");
    });

    it("reports canceled only for a stopped generation, which never gets an image later", async () => {
      const { provider, order, allEnded } = await opened();
      const id = (await provider.submit(order(1, "succeed")))._unsafeUnwrap();
      const other = (await provider.submit(order(2, "succeed")))._unsafeUnwrap();
      const canceled = (await provider.cancel?.(id))?._unsafeUnwrap() ?? "too_late";
      if (canceled === "canceled") expect((await provider.poll(id))._unsafeUnwrap().state).toBe("failed");
      await allEnded();
      const ends = [(await provider.poll(id))._unsafeUnwrap(), (await provider.poll(other))._unsafeUnwrap()];
      expect(ends.map(({ state }) => state)).toEqual([canceled === "canceled" ? "failed" : "succeeded", "succeeded"]);
    });

    it("discards the copy of one generation, also repeatedly, and of an unknown one", async () => {
      const { provider, order, allEnded } = await opened();
      const id = (await provider.submit(order(1, "succeed")))._unsafeUnwrap();
      const other = (await provider.submit(order(2, "succeed")))._unsafeUnwrap();
      await allEnded();
      for (const discarded of [id, id, `${id}0`]) {
        expect((await provider.discard?.(discarded)) ?? ok(undefined)).toEqual(ok(undefined));
      }
      expect((await provider.poll(other))._unsafeUnwrap().state).toBe("succeeded");
    });
  });
};
