import type { Result } from "neverthrow";
import type { ForgedNotice } from "../../../application/errors.js";
import type { ProviderNotice, ProviderNotices } from "../../../application/ports/provider-notices.js";
import type { TaskId } from "../../../domain/task-id.js";
import type { NoticeAddress } from "../notice-address.js";

/** Skybox AI says that it signs its notices, but not how: the proof in the address has to do. */
export class SkyboxNotices implements ProviderNotices {
  private readonly address: NoticeAddress;

  constructor(address: NoticeAddress) {
    this.address = address;
  }

  async taskOf({ query }: ProviderNotice): Promise<Result<TaskId, ForgedNotice>> {
    return this.address.taskIn(query);
  }
}
