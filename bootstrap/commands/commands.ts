import {
  accountClose,
  accountCreate,
  accountFind,
  accountInvite,
  accountList,
  accountSetLowBalance,
  accountSetPassword,
  accountShow,
} from "./account.js";
import { auditList } from "./audit.js";
import { backup } from "./backup.js";
import type { Command } from "./common/command.js";
import { completion } from "./completion.js";
import { creditsGrant, creditsTake } from "./credits.js";
import { doctor } from "./doctor.js";
import { exportAccount } from "./export.js";
import { generate } from "./generate.js";
import { imageRetry } from "./image.js";
import { keyCreate, keyLimits, keyList, keyRevoke } from "./key.js";
import { ledgerShow, ledgerVerify } from "./ledger.js";
import { mcp } from "./mcp.js";
import { migrate } from "./migrate.js";
import { orderCreate, orderPay } from "./order.js";
import { providerTry } from "./provider.js";
import { queueShow } from "./queue.js";
import { retentionApply, retentionShow } from "./retention.js";
import { serve } from "./serve.js";
import { settingsShow } from "./settings.js";
import { storageVerify } from "./storage.js";
import { taskCancel, taskList, taskRetry, taskShow } from "./task.js";
import { usage } from "./usage.js";
import {
  webhookCreate,
  webhookDelete,
  webhookDeliveries,
  webhookEnable,
  webhookList,
  webhookResend,
  webhookRotate,
} from "./webhook.js";

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  serve,
  accountCreate,
  accountInvite,
  accountList,
  accountFind,
  accountShow,
  accountSetPassword,
  accountSetLowBalance,
  accountClose,
  exportAccount,
  creditsGrant,
  creditsTake,
  orderCreate,
  orderPay,
  keyCreate,
  keyList,
  keyLimits,
  keyRevoke,
  ledgerShow,
  ledgerVerify,
  storageVerify,
  taskList,
  taskShow,
  taskCancel,
  taskRetry,
  imageRetry,
  queueShow,
  usage,
  webhookCreate,
  webhookList,
  webhookDelete,
  webhookRotate,
  webhookEnable,
  webhookDeliveries,
  webhookResend,
  auditList,
  retentionShow,
  retentionApply,
  generate,
  mcp,
  migrate,
  settingsShow,
  backup,
  doctor,
  providerTry,
  completion(() => COMMANDS),
];
