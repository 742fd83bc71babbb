import { expect, it } from "vitest";
import { readConfig } from "../../bootstrap/config.js";
import { submissionDeadlineMilliseconds } from "../../bootstrap/submission-deadline.js";

it.each([
  ["local", 35_000],
  ["fal", 35_000],
  ["skybox,fal", 65_000],
  ["skybox,replicate,fal", 95_000],
])("submissionDeadlineMilliseconds with PROVIDER=%s is %i ms", (PROVIDER, milliseconds) => {
  const keys = {
    SKYBOX_API_KEY: "key",
    REPLICATE_API_KEY: "key",
    FAL_API_KEY: "key",
    FAL_MODEL: "fal-ai/hunyuan_world",
  };
  const config = readConfig({ PROVIDER, ...keys, SUBMIT_TIMEOUT_MS: "30000" })._unsafeUnwrap();
  expect(submissionDeadlineMilliseconds(config)).toBe(milliseconds);
});
