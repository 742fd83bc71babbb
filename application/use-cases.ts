import type { AdmitApiRequest } from "./accounts/admit-api-request.js";
import type { CheckPasswordLink } from "./accounts/check-password-link.js";
import type { CreateApiKey } from "./accounts/create-api-key.js";
import type { FindSession } from "./accounts/find-session.js";
import type { HasAccounts } from "./accounts/has-accounts.js";
import type { HeldKeys } from "./accounts/held-keys.js";
import type { KeyUses } from "./accounts/key-uses.js";
import type { ListApiKeys } from "./accounts/list-api-keys.js";
import type { LogIn } from "./accounts/log-in.js";
import type { LogOut } from "./accounts/log-out.js";
import type { OpenAccount } from "./accounts/open-account.js";
import type { ReadAccount } from "./accounts/read-account.js";
import type { RevokeAnyApiKey } from "./accounts/revoke-any-api-key.js";
import type { RevokeApiKey } from "./accounts/revoke-api-key.js";
import type { SendPasswordLink } from "./accounts/send-password-link.js";
import type { SetLowBalance } from "./accounts/set-low-balance.js";
import type { SetPassword } from "./accounts/set-password.js";
import type { SetPasswordByLink } from "./accounts/set-password-by-link.js";
import type { SignUp } from "./accounts/sign-up.js";
import type { ReceiveProviderWebhook } from "./background/receive-provider-webhook.js";
import type { BuyCredits } from "./credits/buy-credits.js";
import type { CreateOrder } from "./credits/create-order.js";
import type { PayOrder } from "./credits/pay-order.js";
import type { ReadCreditTotals } from "./credits/read-credit-totals.js";
import type { ReadCredits } from "./credits/read-credits.js";
import type { ReadLedger } from "./credits/read-ledger.js";
import type { ReceivePaymentWebhook } from "./credits/receive-payment-webhook.js";
import type { VerifyLedger } from "./credits/verify-ledger.js";
import type { StreamEvents } from "./events/stream-events.js";
import type { AdjustCredits } from "./operators/adjust-credits.js";
import type { ChangeKeyLimits } from "./operators/change-key-limits.js";
import type { CloseAccount } from "./operators/close-account.js";
import type { ConfirmRetention, ReadRetention } from "./operators/confirm-retention.js";
import type { ExportAccount } from "./operators/export-account.js";
import type { Invite } from "./operators/invite.js";
import type { RecordAction } from "./operators/record-action.js";
import type { CancelTask } from "./panoramas/cancel-task.js";
import type { ChangeVisibility } from "./panoramas/change-visibility.js";
import type { CheckUpload } from "./panoramas/check-upload.js";
import type { CountAhead } from "./panoramas/count-ahead.js";
import type { CreatePanorama } from "./panoramas/create-panorama.js";
import type { DeletePanorama } from "./panoramas/delete-panorama.js";
import type { FindOwnPanorama } from "./panoramas/find-own-panorama.js";
import type { FindPublicPanorama } from "./panoramas/find-public-panorama.js";
import type { GenerationTime } from "./panoramas/generation-time.js";
import type { ListPublicPanoramas } from "./panoramas/list-public-panoramas.js";
import type { ListTasks } from "./panoramas/list-tasks.js";
import type { ReadTask } from "./panoramas/read-task.js";
import type { RetryFailedImages } from "./panoramas/retry-failed-images.js";
import type { RetryImage } from "./panoramas/retry-image.js";
import type { SearchPublicPanoramas } from "./panoramas/search-public-panoramas.js";
import type { UploadImages } from "./panoramas/upload-images.js";
import type { WaitForTask } from "./panoramas/wait-for-task.js";
import type { CreateEndpoint } from "./webhooks/create-endpoint.js";
import type { DeleteEndpoint } from "./webhooks/delete-endpoint.js";
import type { EnableEndpoint } from "./webhooks/enable-endpoint.js";
import type { ListDeliveries } from "./webhooks/list-deliveries.js";
import type { ListEndpoints } from "./webhooks/list-endpoints.js";
import type { ResendDelivery } from "./webhooks/resend-delivery.js";
import type { RotateEndpointSecret } from "./webhooks/rotate-endpoint-secret.js";

/** Accounts, sessions and API keys. */
export type AccountUseCases = {
  /** Whether there is any account. */
  readonly hasAny: HasAccounts;
  /** The operator opens an account. */
  readonly open: OpenAccount;
  /** A customer opens an account, where no e-mail can confirm the address. */
  readonly signUp: SignUp;
  readonly read: ReadAccount;
  readonly setLowBalance: SetLowBalance;

  readonly logIn: LogIn;
  readonly logOut: LogOut;
  readonly findSession: FindSession;
  readonly setPassword: SetPassword;
  /** Sends an e-mail with a link that sets a password. */
  readonly sendPasswordLink: SendPasswordLink;
  readonly checkPasswordLink: CheckPasswordLink;
  readonly setPasswordByLink: SetPasswordByLink;

  /** What every request with an API key begins with. */
  readonly admitApiRequest: AdmitApiRequest;
  readonly createApiKey: CreateApiKey;
  readonly listApiKeys: ListApiKeys;
  /** The owner revokes a key. */
  readonly revokeApiKey: RevokeApiKey;
  /** The operator revokes a key. */
  readonly revokeAnyApiKey: RevokeAnyApiKey;
  /** Remembers that a key was used, for `listApiKeys`. The background work stores it. */
  readonly noteKeyUse: KeyUses["note"];
  /** Ends a stream of events, or a wait, when its key may not be used any more. */
  readonly holdKey: HeldKeys["hold"];
};

/** Orders, payments and the ledger. */
export type CreditUseCases = {
  /** The operator orders credits for an account. */
  readonly createOrder: CreateOrder;
  readonly payOrder: PayOrder;
  /** A customer orders a pack of credits. */
  readonly buy: BuyCredits;
  readonly receivePaymentWebhook: ReceivePaymentWebhook;

  readonly read: ReadCredits;
  readonly readTotals: ReadCreditTotals;
  readonly readLedger: ReadLedger;
  /** Audits the ledgers of all accounts. */
  readonly verifyLedger: VerifyLedger;
};

/** Panoramas and their tasks. */
export type PanoramaUseCases = {
  readonly create: CreatePanorama;
  readonly read: ReadTask;
  /** Like `read`, as soon as the task has ended. */
  readonly waitFor: WaitForTask;
  readonly list: ListTasks;
  readonly cancel: CancelTask;
  readonly delete: DeletePanorama;

  readonly findOwn: FindOwnPanorama;
  /** The place of a waiting task in the queue. */
  readonly countAhead: CountAhead;
  /** Whether a task takes longer than usual. */
  readonly isLate: GenerationTime["isLate"];
  readonly findPublic: FindPublicPanorama;
  readonly listPublic: ListPublicPanoramas;
  readonly searchPublic: SearchPublicPanoramas;
  readonly changeVisibility: ChangeVisibility;

  readonly checkUpload: CheckUpload;
  /** Stores reference images. */
  readonly uploadImages: UploadImages;

  /** The operator has one image stored again. */
  readonly retryImage: RetryImage;
  readonly retryFailedImages: RetryFailedImages;
  readonly receiveProviderWebhook: ReceiveProviderWebhook;
};

/** What happens to the tasks of an account. */
export type EventUseCases = { readonly stream: StreamEvents };

/** Webhooks that accounts receive. */
export type WebhookUseCases = {
  readonly createEndpoint: CreateEndpoint;
  readonly listEndpoints: ListEndpoints;
  readonly deleteEndpoint: DeleteEndpoint;
  readonly rotateEndpointSecret: RotateEndpointSecret;
  readonly enableEndpoint: EnableEndpoint;
  readonly listDeliveries: ListDeliveries;
  readonly resendDelivery: ResendDelivery;
};

/** What only the operator does, with any account. */
export type OperatorUseCases = {
  /** Runs an action, and writes it to the log of operators. */
  readonly recordAction: RecordAction;
  readonly adjustCredits: AdjustCredits;
  readonly changeKeyLimits: ChangeKeyLimits;
  readonly closeAccount: CloseAccount;
  /** Makes the link with which somebody opens an account. */
  readonly invite: Invite;
  readonly readRetention: ReadRetention;
  /** Confirms a setting that erases more than the retention in force. */
  readonly confirmRetention: ConfirmRetention;
  /** Everything that is stored about the person of an account. */
  readonly exportAccount: ExportAccount;
};

/** All use cases, by what they are about. */
export type UseCases = {
  readonly accounts: AccountUseCases;
  readonly credits: CreditUseCases;
  readonly panoramas: PanoramaUseCases;
  readonly events: EventUseCases;
  readonly webhooks: WebhookUseCases;
  readonly operators: OperatorUseCases;
};
