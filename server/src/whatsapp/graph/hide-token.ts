/** A text of the network without a token that it may repeat. The token of an app, `APP_ID|APP_SECRET`, has a secret in it. */
export function hideToken(text: string, accessToken: string): string {
  const [, ...secrets] = accessToken.split('|')
  return [accessToken, ...secrets]
    .filter((secret) => secret !== '')
    .reduce((hidden, secret) => hidden.replaceAll(secret, '…'), text)
}
