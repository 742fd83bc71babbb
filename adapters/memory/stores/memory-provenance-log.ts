import type { MadeFile, ProvenanceLog } from "../../../application/ports/stores/provenance-log.js";

/** The log in memory. It ends with the process, so it needs no key. */
export class MemoryProvenanceLog implements ProvenanceLog {
  private readonly files = new Map<string, MadeFile>();

  async record(files: readonly MadeFile[]): Promise<void> {
    for (const file of files) if (!this.files.has(file.sha256)) this.files.set(file.sha256, file);
  }

  async find(sha256: string): Promise<MadeFile | undefined> {
    return this.files.get(sha256);
  }
}
