/** How to fix a failed sync of a connection. */
export const remedyFor = (error: string): string =>
  knownRemedy(error) ?? 'It is retried automatically. Click Sync to retry now.'

/** How to fix an error of the Graph API, by the code at the end of the server's message. Null if the code is unknown. */
export function knownRemedy(error: string): string | null {
  const code = Number(/\berror (\d+)\)/.exec(error)?.[1])
  if (code === 190) return 'Create a new system user token at Meta and connect the account again.'
  if (code === 10 || (code >= 200 && code < 300))
    return 'Grant the token’s system user whatsapp_business_management for this account.'
  if (code === 100) return 'Check the account ID, and that the token’s system user has access to the account.'
  return null
}
