/** What the owner of a suspended account is told. The operator's reason may end with a full stop. */
export const suspendedSentence = ({ reason }: { readonly reason: string }): string =>
  `This account is suspended: ${reason.replace(/\.$/, "")}. Ask the operator.`;
