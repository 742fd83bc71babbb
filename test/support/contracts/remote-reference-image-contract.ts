import { expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import { referenceImageName } from "../../../domain/images/object-name.js";
import { hostedPictures } from "../hosted-pictures.js";
import { FOREIGN, PROMPT, type RemoteSetup } from "./remote-setup.js";

/** How a RemoteProvider sends reference images. */
export const describeRemoteReferenceImages = (on: RemoteSetup): void => {
  const { submitted, creations } = on;

  const sent = () => JSON.stringify(on.remote.fake.tasks[0]?.input);

  it("sends an image at a foreign URL as its URL", async () => {
    await submitted();
    expect(sent()).toContain(FOREIGN);
  });

  it("sends an uploaded image as bytes", async () => {
    const [url = ""] = await hostedPictures(on.storage, 1);
    const request = aCreationRequest({ prompt: PROMPT, image_urls: [url] });
    (await on.remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
    expect(sent()).not.toContain(url);
    expect(sent()).toMatch(/"(data:image\/(png|jpeg);base64,)?[A-Za-z0-9+/]{80,}=*"/);
  });

  it("refuses the creation without a call if an uploaded image is unreadable", async () => {
    const request = aCreationRequest({
      image_urls: [on.storage.urlOf(referenceImageName("cd".repeat(11), "image/png"))],
    });
    const failure = (await on.remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr();
    expect(failure).toMatchObject({ kind: "refused", reason: expect.stringContaining("reference image") });
    expect(creations()).toBe(0);
  });
};
