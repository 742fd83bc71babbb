import { createHash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { ObjectName } from "../../domain/images/object-name.js";
import { InvalidAnswer, type RequestFailure, type Retries, type Send } from "./retries.js";
import { CACHE_CONTROL } from "./stored-object.js";

/** Errors that a retry can fix although their status is not 5xx: of the request as it arrived, or of this moment. */
const TEMPORARY = new Set([
  "BadDigest", // `Content-MD5`: the bytes were damaged in transit
  "ConditionalRequestConflict",
  "OperationAborted",
  "RequestTimeout",
  "SlowDown",
  "XAmzContentSHA256Mismatch",
]);

/** The part of the AWS client's errors that counts. */
type S3Error = {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
};

/** The status of an answer that is an error; `undefined` if there was no answer. */
export const httpStatusOf = (error: unknown): number | undefined => (error as S3Error).$metadata?.httpStatusCode;

/** The code of S3's answer, such as `NoSuchKey`, or the client's name of the error. */
export const codeOf = (error: unknown): string | undefined => (error as S3Error).name;

/** True if a service does not know `If-None-Match`. Most answer with this code, all with this status. */
export const isNotImplemented = (error: unknown): boolean =>
  httpStatusOf(error) === 501 || codeOf(error) === "NotImplemented";

/** The reason never quotes the message of the service or of the client: it can contain a URL or an access key. */
export const s3FailureOf = (error: unknown): RequestFailure => {
  const status = httpStatusOf(error);
  const name = codeOf(error);
  const { code, $metadata, $response } = error as S3Error;
  if (name === "CredentialsProviderError") {
    return { reason: "there are no credentials for S3, or they cannot be refreshed", isTemporary: true };
  }
  if (status === undefined) return { reason: `S3 cannot be used (${code ?? name ?? "unknown"})`, isTemporary: true };
  const region = $response?.headers?.["x-amz-bucket-region"];
  if ((status === 301 || status === 307 || status === 400) && region !== undefined && /^[a-z0-9-]+$/.test(region)) {
    return { reason: `S3 answered ${status}: the bucket is in the region ${region}`, isTemporary: false };
  }
  const isCode = name !== undefined && /^[A-Z][A-Za-z0-9]+$/.test(name) && !/^(Unknown|UnknownError|Error)$/.test(name);
  return {
    reason: `S3 answered ${status}${isCode ? ` (${name})` : ""}`,
    isTemporary:
      status < 300 || // not an answer of S3, or the beginning of one
      status === 408 ||
      status === 429 ||
      (status >= 500 && status !== 501) ||
      TEMPORARY.has(name ?? "") ||
      $metadata?.clockSkewCorrected === true, // the client signs with the service's time from now on
  };
};

export const notFromS3 = () => new InvalidAnswer("the answer is not from S3", true);

/** Throws if the answer has no ETag, as a proxy's page with status 200: every answer of S3 about an object has one. */
export const fromS3 = <T extends { readonly ETag?: string | undefined }>(answer: T): T & { readonly ETag: string } => {
  const { ETag } = answer;
  if (ETag === undefined) throw notFromS3();
  return { ...answer, ETag };
};

/** A larger object is uploaded in parts of this size, which are repeated one by one. S3 allows none below 5 MiB. */
export const PART_BYTES = 8 * 1024 * 1024;

/** The metadata with the SHA-256 of the object's bytes. In some services and buckets an ETag is not a checksum. */
export const CHECKSUM = "sha256";

export const checksumOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** `unconfirmed`: the answer does not show that the service has stored the bytes that it was sent. */
export type UploadOutcome = "confirmed" | "unconfirmed" | "exists";

type NewObject = { readonly name: ObjectName; readonly bytes: Uint8Array; readonly contentType: string };

/** Sends and repeats requests. */
type Calls = { readonly retries: Retries; readonly send: Send };

/** The upload of one object. With the condition `*`, a service that knows it creates the object or answers `exists`. */
export class S3Upload {
  private readonly client: S3Client;
  private readonly object: NewObject;
  private readonly retries: Retries;
  private readonly send: Send;
  private readonly place: { readonly Bucket: string; readonly Key: ObjectName };

  constructor(client: S3Client, bucket: string, object: NewObject, { retries, send }: Calls) {
    this.client = client;
    this.object = object;
    this.retries = retries;
    this.send = send;
    this.place = { Bucket: bucket, Key: object.name };
  }

  inOneRequest(condition: "*" | undefined): Promise<UploadOutcome> {
    const { bytes } = this.object;
    const body = { Body: bytes, ContentMD5: md5(bytes).toString("base64"), IfNoneMatch: condition };
    const command = new PutObjectCommand({ ...this.place, ...this.headers(), ...body });
    return this.send(async (abortSignal) => {
      try {
        const { ETag } = fromS3(await this.client.send(command, { abortSignal }));
        return isChecksum(ETag, bytes) ? "confirmed" : "unconfirmed";
      } catch (error) {
        if (httpStatusOf(error) === 412) return "exists";
        throw error;
      }
    });
  }

  async inParts(condition: "*" | undefined): Promise<UploadOutcome> {
    const uploadId = await this.begin();
    try {
      const parts = Array.from({ length: Math.ceil(this.object.bytes.length / PART_BYTES) }, (_, index) =>
        this.uploadPart(uploadId, index),
      );
      // All have ended before an abort: S3 would keep a part that arrives later.
      await Promise.allSettled(parts);
      const uploaded = await Promise.all(parts);
      const isCompleted = await this.complete(uploadId, uploaded, condition);
      return isCompleted && uploaded.every(({ isConfirmed }) => isConfirmed) ? "confirmed" : "unconfirmed";
    } catch (error) {
      // If this fails, a rule of the bucket deletes the parts (bootstrap/deployment/README.md).
      const command = new AbortMultipartUploadCommand({ ...this.place, UploadId: uploadId });
      await this.retries.once((abortSignal) => this.client.send(command, { abortSignal }));
      if (httpStatusOf(error) === 412) return "exists";
      throw error;
    }
  }

  private begin(): Promise<string> {
    const command = new CreateMultipartUploadCommand({ ...this.place, ...this.headers() });
    return this.send(async (abortSignal) => {
      const { UploadId } = await this.client.send(command, { abortSignal });
      if (UploadId === undefined) throw notFromS3();
      return UploadId;
    });
  }

  private uploadPart(uploadId: string, index: number) {
    const bytes = this.object.bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES);
    const part = { UploadId: uploadId, PartNumber: index + 1 };
    const body = { Body: bytes, ContentMD5: md5(bytes).toString("base64") };
    const command = new UploadPartCommand({ ...this.place, ...part, ...body });
    return this.send(async (abortSignal) => {
      const { ETag } = fromS3(await this.client.send(command, { abortSignal }));
      return { PartNumber: index + 1, ETag, isConfirmed: isChecksum(ETag, bytes) };
    });
  }

  /** Returns `false` if an earlier attempt, whose answer was lost, has ended the upload. */
  private async complete(uploadId: string, parts: CompletedPart[], condition: "*" | undefined): Promise<boolean> {
    const MultipartUpload = { Parts: parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })) };
    const upload = { ...this.place, UploadId: uploadId, MultipartUpload, IfNoneMatch: condition };
    const command = new CompleteMultipartUploadCommand(upload);
    try {
      const { ETag } = await this.send((abortSignal) => this.client.send(command, { abortSignal }));
      return ETag !== undefined;
    } catch (error) {
      if (codeOf(error) === "NoSuchUpload") return false;
      if (condition !== undefined && isNotImplemented(error)) return this.complete(uploadId, parts, undefined);
      throw error;
    }
  }

  private headers() {
    const { bytes, contentType } = this.object;
    return { ContentType: contentType, CacheControl: CACHE_CONTROL, Metadata: { [CHECKSUM]: checksumOf(bytes) } };
  }
}

const md5 = (bytes: Uint8Array): Buffer => createHash("md5").update(bytes).digest();

/** Most services' ETag of bytes that were uploaded in one request is their MD5 hash. */
const isChecksum = (etag: string, bytes: Uint8Array): boolean =>
  etag.replaceAll('"', "") === md5(bytes).toString("hex");
