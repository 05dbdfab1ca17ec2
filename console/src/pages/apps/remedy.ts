/** What to do about an account that could not be reached or synchronised, as far as the service's words tell. */
export function remedyFor(error: string): string {
  const code = Number(/the network's error (\d+)\)/.exec(error)?.[1])
  if (code === 190) return 'Make a new system user token at Meta and connect the account again with it.'
  if (code === 10 || (code >= 200 && code < 300))
    return 'Give the token’s user whatsapp_business_management for this account.'
  if (code === 100) return 'Check the account’s id, and that the token’s user may see it.'
  return 'It is tried again by itself; Synchronise tries at once.'
}
