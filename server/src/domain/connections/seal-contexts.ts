/** The context each secret is encrypted with: a ciphertext copied to another row or column does not decrypt. */
export const appSecretContext = (appId: string): string => `apps/${appId}/app_secret`
export const verifyTokenContext = (appId: string): string => `apps/${appId}/verify_token`
export const accessTokenContext = (connectionId: string): string => `connections/${connectionId}/access_token`
