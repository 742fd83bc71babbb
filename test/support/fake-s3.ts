import { createHash, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type BucketAnswer, type BucketFault, HTML_PAGE, withOneByteChanged } from "./bucket-faults.js";
import { FakeBucket } from "./fake-bucket.js";

/** With status 200: a failure after the status was sent, as in the completion of an upload. */
export type S3Error = { readonly status: number; readonly code: string; readonly headers?: Record<string, string> };

export type S3Fault = BucketFault | S3Error;

type StoredObject = {
  readonly bytes: Buffer;
  /** Those of the object: content type, cache control, metadata. */
  readonly headers: Record<string, string>;
};

type Upload = { readonly name: string; readonly headers: Record<string, string>; readonly parts: Map<number, Buffer> };

/**
 * The parts of the interface of S3 that the storage needs, on a bucket in the path. It checks access key and region of
 * the signature, not the signature itself.
 */
export class FakeS3 extends FakeBucket<S3Fault> {
  readonly region = "eu-test-1";
  readonly credentials = { accessKeyId: "AKIATEST", secretAccessKey: "secret", sessionToken: "token-of-tests" };
  readonly objects = new Map<string, StoredObject>();
  /** Uploads in parts that were neither completed nor aborted. */
  readonly uploads = new Map<string, Upload>();
  /** What it does with `If-None-Match: *`. An error is its answer. */
  condition: "is known" | "is ignored" | "is known for one request only" | S3Error = "is known";
  checksContentMd5 = true;
  /** Whether ETags are MD5 hashes, as where objects are not encrypted with a key of KMS. */
  hasMd5Etags = true;

  static start(): Promise<FakeS3> {
    return new FakeS3().listen();
  }

  protected override answer(
    { method, url = "", headers }: IncomingMessage,
    body: Buffer,
    fault: S3Fault | undefined,
  ): BucketAnswer {
    if (typeof fault === "number") return refusal({ status: fault, code: "InternalError" });
    if (typeof fault === "object") return refusal(fault);
    if (fault === "html") return HTML_PAGE;
    // As some services answer: they know `Content-MD5` only.
    if (Object.keys(headers).some((name) => /^x-amz-(sdk-)?(checksum|trailer)/.test(name))) {
      return refusal({ status: 501, code: "NotImplemented" });
    }
    const scope = `Credential=${this.credentials.accessKeyId}/`;
    if (!headers.authorization?.includes(scope)) return refusal({ status: 403, code: "InvalidAccessKeyId" });
    if (headers["x-amz-security-token"] !== this.credentials.sessionToken) {
      return refusal({ status: 400, code: "InvalidToken" });
    }
    if (!headers.authorization.includes(`/${this.region}/s3/aws4_request`)) {
      const region = { "x-amz-bucket-region": this.region };
      return refusal({ status: 301, code: "PermanentRedirect", headers: region });
    }
    const { pathname, searchParams } = new URL(url, this.url);
    const [, bucket, ...path] = pathname.split("/");
    if (bucket !== this.bucket) return refusal({ status: 404, code: "NoSuchBucket" });
    const name = path.join("/");
    if (method === "GET" && searchParams.has("list-type")) return this.list(searchParams);
    const uploadId = searchParams.get("uploadId");
    if (method === "PUT" && uploadId !== null) {
      return this.putPart(uploadId, Number(searchParams.get("partNumber")), headers, body, fault);
    }
    if (method === "POST" && uploadId !== null) return this.complete(uploadId, headers, body);
    if (method === "DELETE" && uploadId !== null) {
      return this.uploads.delete(uploadId) ? NO_CONTENT : refusal({ status: 404, code: "NoSuchUpload" });
    }
    if (method === "POST" && searchParams.has("uploads")) return this.begin(name, headers);
    if (method === "PUT") return this.put(name, headers, body, fault);
    if (method === "GET" || method === "HEAD") return this.get(name, method, fault);
    this.objects.delete(name);
    return NO_CONTENT;
  }

  private put(name: string, headers: IncomingHttpHeaders, body: Buffer, fault: S3Fault | undefined): BucketAnswer {
    const bytes = fault === "damage" ? withOneByteChanged(body) : body;
    const refused = this.checkCondition(name, headers) ?? this.checkMd5(headers, bytes);
    if (refused !== undefined) return refused;
    this.objects.set(name, { bytes, headers: objectHeaders(headers) });
    this.writes++;
    return this.stored(bytes, fault);
  }

  private begin(name: string, headers: IncomingHttpHeaders): BucketAnswer {
    const id = randomUUID();
    this.uploads.set(id, { name, headers: objectHeaders(headers), parts: new Map() });
    return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  private putPart(
    id: string,
    number: number,
    headers: IncomingHttpHeaders,
    body: Buffer,
    fault: S3Fault | undefined,
  ): BucketAnswer {
    const bytes = fault === "damage" ? withOneByteChanged(body) : body;
    const upload = this.uploads.get(id);
    if (upload === undefined) return refusal({ status: 404, code: "NoSuchUpload" });
    const refused = this.checkMd5(headers, bytes);
    if (refused !== undefined) return refused;
    upload.parts.set(number, bytes);
    return this.stored(bytes, fault);
  }

  private complete(id: string, headers: IncomingHttpHeaders, body: Buffer): BucketAnswer {
    const upload = this.uploads.get(id);
    if (upload === undefined) return refusal({ status: 404, code: "NoSuchUpload" });
    if (this.condition === "is known for one request only" && headers["if-none-match"] !== undefined) {
      return refusal({ status: 501, code: "NotImplemented" });
    }
    const refused = this.checkCondition(upload.name, headers);
    if (refused !== undefined) return refused;
    const numbers = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) =>
      Number(number),
    );
    const parts = numbers.map((number) => upload.parts.get(number));
    if (parts.some((part) => part === undefined)) return refusal({ status: 400, code: "InvalidPart" });
    this.objects.set(upload.name, { bytes: Buffer.concat(parts as Buffer[]), headers: upload.headers });
    this.uploads.delete(id);
    this.writes++;
    return xml(`<CompleteMultipartUploadResult><ETag>"0-${parts.length}"</ETag></CompleteMultipartUploadResult>`);
  }

  private get(name: string, method: "GET" | "HEAD", fault: S3Fault | undefined): BucketAnswer {
    const object = this.objects.get(name);
    if (object === undefined) {
      const missing = refusal({ status: 404, code: "NoSuchKey" });
      return method === "GET" ? missing : { ...missing, body: Buffer.alloc(0) };
    }
    const headers: Record<string, string> = { ...object.headers, etag: this.etagOf(object.bytes) };
    if (fault === "wrong-checksum") headers["x-amz-meta-sha256"] = "0".repeat(64);
    const bytes = fault === "damage" ? withOneByteChanged(object.bytes) : object.bytes;
    return { status: 200, headers, body: method === "GET" ? bytes : Buffer.alloc(0) };
  }

  /** One name per page. */
  private list(query: URLSearchParams): BucketAnswer {
    const names = [...this.objects.keys()].filter((name) => name.startsWith(query.get("prefix") ?? "")).sort();
    const start = Number(query.get("continuation-token") ?? 0);
    const contents = names.slice(start, start + 1).map((name) => `<Contents><Key>${name}</Key></Contents>`);
    const isTruncated = names.length > start + 1;
    const next = isTruncated ? `<NextContinuationToken>${start + 1}</NextContinuationToken>` : "";
    return xml(
      `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`,
    );
  }

  private checkCondition(name: string, headers: IncomingHttpHeaders): BucketAnswer | undefined {
    if (headers["if-none-match"] !== "*" || this.condition === "is ignored") return undefined;
    if (typeof this.condition === "object") return refusal(this.condition);
    return this.objects.has(name) ? refusal({ status: 412, code: "PreconditionFailed" }) : undefined;
  }

  private checkMd5(headers: IncomingHttpHeaders, bytes: Buffer): BucketAnswer | undefined {
    const md5 = headers["content-md5"];
    const isRight = md5 === undefined || md5 === createHash("md5").update(bytes).digest("base64");
    return isRight || !this.checksContentMd5 ? undefined : refusal({ status: 400, code: "BadDigest" });
  }

  private stored(bytes: Buffer, fault: S3Fault | undefined): BucketAnswer {
    const etag = this.etagOf(fault === "wrong-checksum" ? Buffer.from("other bytes") : bytes);
    return { status: 200, headers: { etag }, body: Buffer.alloc(0) };
  }

  private etagOf(bytes: Buffer): string {
    return `"${createHash(this.hasMd5Etags ? "md5" : "sha1")
      .update(bytes)
      .digest("hex")}"`;
  }
}

const NO_CONTENT: BucketAnswer = { status: 204, headers: {}, body: Buffer.alloc(0) };

const xml = (text: string): BucketAnswer => ({
  status: 200,
  headers: { "content-type": "application/xml" },
  body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`),
});

const refusal = ({ status, code, headers }: S3Error): BucketAnswer => {
  const answer = xml(`<Error><Code>${code}</Code><Message>refused by a test</Message></Error>`);
  return { ...answer, status, headers: { ...answer.headers, ...headers } };
};

const objectHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      /^(content-type|cache-control|x-amz-meta-.*)$/.test(name) && typeof value === "string" ? [[name, value]] : [],
    ),
  );
