/** How to fix a failed connection or sync, by the Graph API error code at the end of the server's message. */
export function remedyFor(error: string): string {
  const code = Number(/\berror (\d+)\)/.exec(error)?.[1])
  if (code === 190) return 'Create a new system user token at Meta and connect the account again.'
  if (code === 10 || (code >= 200 && code < 300))
    return 'Grant the token’s system user whatsapp_business_management for this account.'
  if (code === 100) return 'Check the account ID, and that the token’s system user has access to the account.'
  return 'It is retried automatically. Click Sync to retry now.'
}
