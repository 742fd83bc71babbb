import type { OrderId, PaymentDifference } from "../../domain/credits/order.js";
import type { PaymentReturn } from "../../domain/credits/payment-return.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { ResultFigures } from "../../domain/images/picture.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import type { StorageStatus } from "../../domain/images/storage-status.js";
import type { FailureReason, Task } from "../../domain/tasks/task.js";
import type { Delivery } from "../../domain/webhooks/webhook-delivery.js";
import type { EndpointId, OffReason } from "../../domain/webhooks/webhook-endpoint.js";

/** `provider`: the provider place of the task (`placeOf` of domain/tasks/task.ts), such as `fal:seedream-4.5`. */
type TaskAtProvider = { readonly taskId: TaskId; readonly provider?: string | undefined };

/** Reason for a refused login. `no_password`: the account has none. */
export type LoginFailure = "unknown_address" | "no_password" | "wrong_password" | "rate_limited" | "hashing_busy";

/** An event for the operator's logs and metrics. It never contains a prompt, key or password. */
export type OperationalEvent =
  /** The provider has no free capacity now; the task waits in the queue. */
  | { readonly kind: "task_queued"; readonly taskId: TaskId }
  /** A submission started nothing, so the task returned to the queue. */
  | { readonly kind: "task_requeued"; readonly taskId: TaskId; readonly detail: string }
  | (TaskAtProvider & { readonly kind: "task_submitted"; readonly upstreamTaskId: string })
  /** The result of a generation was decoded. domain/images/picture.ts explains the figures. */
  | (TaskAtProvider & ResultFigures & { readonly kind: "picture_measured"; readonly nativeSize: PixelSize })
  | (TaskAtProvider & { readonly kind: "task_succeeded"; readonly seconds: number })
  | (TaskAtProvider & { readonly kind: "task_failed"; readonly reason: FailureReason; readonly detail: string })
  /** An upstream task may exist without a task that uses its result; the customer does not pay for it. */
  | { readonly kind: "possible_orphan"; readonly taskId: TaskId; readonly detail: string }
  /** The response of a submission was lost, but `GenerationProvider.search` found its upstream task. */
  | (TaskAtProvider & { readonly kind: "submission_recovered"; readonly upstreamTaskId: string })
  | { readonly kind: "provider_unavailable"; readonly taskId: TaskId; readonly detail: string }
  | { readonly kind: "image_status"; readonly taskId: TaskId; readonly status: StorageStatus; readonly detail: string }
  /** Uploaded images were deleted because no task uses them. */
  | { readonly kind: "images_expired"; readonly count: number }
  /**
   * A login was refused. `network`: as in `FinishedRequest`. `accountId`: the account of the e-mail address, if any.
   * The address is not logged: a mistyped one may be somebody else's.
   */
  | {
      readonly kind: "login_failed";
      readonly reason: LoginFailure;
      readonly network: string;
      readonly accountId?: AccountId | undefined;
    }
  /**
   * An e-mail could not be sent, and is given up. `detail`: the error of the mail server or of its connection.
   * `email`: the kind of e-mail. Without `accountId` the address has no account.
   */
  | {
      readonly kind: "mail_failed";
      readonly detail: string;
      readonly email?: string | undefined;
      readonly accountId?: AccountId | undefined;
    }
  /**
   * A payment does not match the order that it names, so the order is not paid. `order`: there is no such order. The
   * session and the amount are for the operator, who returns the money or adds the credits by hand.
   */
  | {
      readonly kind: "payment_ignored";
      readonly orderId: OrderId;
      readonly sessionId: string;
      readonly amountCents: number | undefined;
      readonly currency: string | undefined;
      readonly differences: readonly (PaymentDifference | "order")[];
    }
  /**
   * A refund or dispute changed. `credits`: change of the balance, may be negative. Without an order nothing changes:
   * the payment is of another product, or was not reported yet.
   */
  | {
      readonly kind: "payment_returned";
      readonly returnId: string;
      readonly what: PaymentReturn["kind"];
      readonly paymentId: string;
      readonly orderId: OrderId | undefined;
      readonly credits: number;
    }
  /** An attempt to send an event to an endpoint. `state`: the delivery afterwards; a `pending` one is tried again. */
  | {
      readonly kind: "webhook_attempt";
      readonly endpointId: EndpointId;
      readonly eventId: string;
      readonly state: Delivery["state"];
      readonly attempt: number;
      readonly detail: string;
      readonly cause?: string | undefined;
    }
  /** The endpoint was switched off: no more webhooks until its account or the operator switches it on again. */
  | {
      readonly kind: "webhook_endpoint_off";
      readonly endpointId: EndpointId;
      readonly accountId: AccountId;
      readonly reason: OffReason;
    }
  /** The stored task has a value in this column that this version cannot read. Lists and background work skip it. */
  | { readonly kind: "task_unreadable"; readonly taskId: TaskId; readonly column: string }
  /**
   * Background work threw an error. With `taskId`: retried until a limit or deadline. Without: retried for as long as
   * the application runs.
   */
  | { readonly kind: "work_failed"; readonly work: string; readonly taskId?: TaskId; readonly error: unknown };

/** The outcome of one request. It contains no path, body or secret of a key. */
export type FinishedRequest = {
  readonly requestId: string;
  /** The id of the request's trace, 32 hexadecimal digits. Absent if neither the client nor anybody else knows it. */
  readonly traceId?: string | undefined;
  readonly method: string;
  /** The pattern of the route, never the path itself; `unknown` if no route matches. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** Account and key of an authenticated request. */
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  /**
   * Network of the client: IPv4 address, or /64 of an IPv6 address. Empty if the client disconnected too early. Absent
   * for reads with a valid key.
   */
  readonly network?: string | undefined;
  /** The kind of error in an answer of the REST interface, such as `rate_limited`; `undefined` if there is none. */
  readonly error?: string | undefined;
  /** The client disconnected before it had the whole answer. */
  readonly aborted: boolean;
};

/** Receives events for the operator (log, metrics). Must not throw. */
export interface Reporter {
  report(event: OperationalEvent): void;
  /** Runs background work on a task as a part of the task's trace. Absent if nothing is traced. */
  trace?<T>(work: string, task: Task | undefined, run: () => Promise<T>): Promise<T>;
}
