import { err } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { misused } from "../command-error.js";
import { operatorName } from "../operator-name.js";
import type { Service } from "../service.js";
import { tokens } from "../tokens.js";
import { ACCOUNT, type Command, optionalText, REASON, textOf, type Values } from "./common/command.js";
import { notFoundOrInvalid } from "./common/invalid-option.js";

export const galleryHide: Command = {
  words: "gallery hide",
  about: "Hides a panorama, or all public panoramas of an account. Only the owner still sees them.",
  usage: "SLUG --reason TEXT | --account ID --reason TEXT",
  options: { ...REASON, ...ACCOUNT },
  positional: "slug",
  required: ["reason"],
  example: 'gallery hide AbCdEfGhIj --reason "Shows a private person"',
  isRecorded: true,
  run: async (service, values) => {
    const [slug, account] = [optionalText(values, "slug"), optionalText(values, "account")];
    if ((slug === undefined) === (account === undefined)) return err(misused("Give either SLUG or --account ID."));
    return slug === undefined
      ? hideAccount(service, values, account as AccountId)
      : hide(service, slug, textOf(values, "reason"));
  },
};

const FILES_FOLLOW =
  "The running service now gives the stored files other names. Purge their old URLs where a CDN may keep copies.";

const hideAccount = async (service: Service, values: Values, account: AccountId) => {
  const { operators } = await service.get(tokens.storeUseCases);
  const hidden = await operators.hideAllPanoramas(account, { reason: textOf(values, "reason"), by: operatorName() });
  return hidden
    .map((panoramas) => ({
      json: { account_id: account, hidden: panoramas },
      lines: [`${panoramas} public panoramas of account ${account} are hidden`, FILES_FOLLOW],
    }))
    .mapErr(notFoundOrInvalid);
};

export const galleryShow: Command = {
  words: "gallery show",
  about: "Shows a hidden panorama again, with the visibility chosen by its owner.",
  usage: "SLUG",
  options: {},
  positional: "slug",
  required: ["slug"],
  example: "gallery show AbCdEfGhIj",
  isRecorded: true,
  run: (service, values) => hide(service, textOf(values, "slug"), undefined),
};

/** Hides a panorama for a reason; without one, shows it. */
const hide = async (service: Service, slug: string, reason: string | undefined) => {
  const { operators } = await service.get(tokens.storeUseCases);
  const given = reason === undefined ? undefined : { reason, by: operatorName() };
  const changed = await operators.hidePanorama(slug.trim(), given);
  return changed
    .map((task) => ({
      json: { task_id: task.id, slug: task.slug, hidden: reason !== undefined },
      lines:
        reason === undefined
          ? [`panorama ${task.slug} is no longer hidden`]
          : [`panorama ${task.slug} is hidden`, FILES_FOLLOW],
    }))
    .mapErr(notFoundOrInvalid);
};
