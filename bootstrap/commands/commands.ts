import {
  accountClose,
  accountCreate,
  accountInvite,
  accountList,
  accountPasswordLink,
  accountResume,
  accountSetLowBalance,
  accountShow,
  accountSuspend,
} from "./accounts/account.js";
import { accountEraseAgain, accountErasures } from "./accounts/erasures.js";
import { keyCreate, keyLimits, keyList, keyRevoke } from "./accounts/key.js";
import { auditList } from "./audit.js";
import { backup } from "./backup.js";
import type { Command } from "./common/command.js";
import { doctor } from "./doctor.js";
import { galleryHide, galleryShow } from "./gallery.js";
import { generate } from "./generate.js";
import { mcp } from "./mcp.js";
import { migrateCommand } from "./migrate.js";
import { creditsGrant, creditsTake } from "./money/credits.js";
import { ledgerShow, ledgerVerify } from "./money/ledger.js";
import { orderCreate, orderList, orderPay, orderRefund } from "./money/order.js";
import { paymentsReconcile } from "./money/payments.js";
import { serve } from "./serve.js";
import { settingsShow } from "./settings.js";
import { storageVerify } from "./storage.js";
import { taskCancel, taskList, taskRetry, taskShow } from "./task.js";
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
  accountShow,
  accountPasswordLink,
  accountSetLowBalance,
  accountSuspend,
  accountResume,
  accountClose,
  accountErasures,
  accountEraseAgain,
  creditsGrant,
  creditsTake,
  orderCreate,
  orderPay,
  orderRefund,
  orderList,
  paymentsReconcile,
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
  galleryHide,
  galleryShow,
  webhookCreate,
  webhookList,
  webhookDelete,
  webhookRotate,
  webhookEnable,
  webhookDeliveries,
  webhookResend,
  auditList,
  generate,
  mcp,
  migrateCommand,
  settingsShow,
  backup,
  doctor,
];
