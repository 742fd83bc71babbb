import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { CRC32C } from "@google-cloud/storage";
import { type BucketAnswer, type BucketFault, HTML_PAGE, withOneByteChanged } from "./bucket-faults.js";
import { FakeBucket } from "./fake-bucket.js";

type StoredObject = {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly cacheControl: string | undefined;
};

type Upload = {
  readonly metadata: { readonly contentType: string; readonly cacheControl?: string; readonly md5Hash?: string };
  readonly bytes: Buffer;
};

/** The parts of Google Cloud Storage's JSON API that the client needs to create, read, delete and list objects. */
export class FakeGcs extends FakeBucket<BucketFault> {
  readonly objects = new Map<string, StoredObject>();

  static start(): Promise<FakeGcs> {
    return new FakeGcs().listen();
  }

  protected override answer(request: IncomingMessage, body: Buffer, fault: BucketFault | undefined): BucketAnswer {
    if (typeof fault === "number") return refusal(fault, "refused by a test");
    if (fault === "html") return HTML_PAGE;
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    if (request.method === "POST" && pathname === `/upload/storage/v1/b/${this.bucket}/o`) {
      const upload = parseMultipart(request.headers["content-type"] ?? "", body);
      return this.insert(searchParams, fault === "damage" ? damaged(upload) : upload, fault);
    }
    const objects = `/storage/v1/b/${this.bucket}/o`;
    if (request.method === "GET" && pathname === objects) {
      // One name per page.
      const names = [...this.objects.keys()].filter((name) => name.startsWith(searchParams.get("prefix") ?? "")).sort();
      const start = Number(searchParams.get("pageToken") ?? 0);
      const items = names.slice(start, start + 1).map((name) => ({ name }));
      const next = names.length > start + 1 ? { nextPageToken: String(start + 1) } : {};
      return json(200, { kind: "storage#objects", items, ...next });
    }
    if (request.method === "GET" && pathname.startsWith(`${objects}/`)) {
      return this.get(decodeURIComponent(pathname.slice(objects.length + 1)), searchParams.get("alt"), fault);
    }
    if (request.method === "DELETE" && pathname.startsWith(`${objects}/`)) {
      const name = decodeURIComponent(pathname.slice(objects.length + 1));
      const found = this.objects.delete(name);
      return found
        ? { status: 204, headers: {}, body: Buffer.alloc(0) }
        : refusal(404, `No such object: ${this.bucket}/${name}`);
    }
    return refusal(404, "The specified bucket does not exist.");
  }

  private insert(query: URLSearchParams, { metadata, bytes }: Upload, fault: BucketFault | undefined): BucketAnswer {
    const name = query.get("name") ?? "";
    if (query.get("ifGenerationMatch") === "0" && this.objects.has(name)) {
      return refusal(412, "At least one of the pre-conditions you specified did not hold.");
    }
    if (metadata.md5Hash !== undefined && metadata.md5Hash !== checksums(bytes).md5Hash) {
      return refusal(400, `Provided MD5 hash "${metadata.md5Hash}" doesn't match calculated MD5 hash.`);
    }
    const object = { bytes, contentType: metadata.contentType, cacheControl: metadata.cacheControl };
    this.objects.set(name, object);
    this.writes++;
    return json(200, this.resource(name, object, fault));
  }

  private get(name: string, alt: string | null, fault: BucketFault | undefined): BucketAnswer {
    const object = this.objects.get(name);
    if (object === undefined) return refusal(404, `No such object: ${this.bucket}/${name}`);
    if (alt !== "media") return json(200, this.resource(name, object, fault));
    const { crc32c, md5Hash } = checksums(fault === "wrong-checksum" ? OTHER_BYTES : object.bytes);
    return {
      status: 200,
      headers: {
        "content-type": object.contentType,
        "x-goog-stored-content-encoding": "identity",
        "x-goog-hash": [`crc32c=${crc32c}`, `md5=${md5Hash}`], // two headers, as Google sends them
      },
      body: fault === "damage" ? withOneByteChanged(object.bytes) : object.bytes,
    };
  }

  private resource(name: string, { bytes, contentType, cacheControl }: StoredObject, fault: BucketFault | undefined) {
    return {
      kind: "storage#object",
      bucket: this.bucket,
      name,
      generation: "1",
      metageneration: "1",
      size: String(bytes.length),
      contentType,
      cacheControl,
      ...checksums(fault === "wrong-checksum" ? OTHER_BYTES : bytes),
    };
  }
}

const OTHER_BYTES = Buffer.from("other bytes");

const json = (status: number, value: unknown): BucketAnswer => ({
  status,
  headers: { "content-type": "application/json; charset=UTF-8" },
  body: Buffer.from(JSON.stringify(value)),
});

const refusal = (code: number, message: string): BucketAnswer =>
  json(code, { error: { code, message, errors: [{ message, domain: "global", reason: "refused" }] } });

const checksums = (bytes: Buffer) => {
  const crc32c = new CRC32C();
  crc32c.update(bytes);
  return { crc32c: crc32c.toString(), md5Hash: createHash("md5").update(bytes).digest("base64") };
};

const damaged = ({ metadata, bytes }: Upload): Upload => ({ metadata, bytes: withOneByteChanged(bytes) });

/** Parses `multipart/related` with two parts: the metadata as JSON, then the bytes. */
const parseMultipart = (contentType: string, body: Buffer): Upload => {
  const boundary = /boundary=(\S+)/.exec(contentType)?.[1];
  const jsonStart = body.indexOf("\r\n\r\n") + 4;
  const jsonEnd = body.indexOf(`\r\n--${boundary}`, jsonStart);
  const bytesStart = body.indexOf("\r\n\r\n", jsonEnd) + 4;
  const bytesEnd = body.lastIndexOf(`\r\n--${boundary}--`);
  return {
    metadata: JSON.parse(body.toString("utf8", jsonStart, jsonEnd)),
    bytes: body.subarray(bytesStart, bytesEnd),
  };
};
