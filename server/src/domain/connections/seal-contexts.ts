/** Where each secret lies; sealed bytes open in their own place only. */
export const appSecretContext = (appId: string): string => `apps/${appId}/app_secret`
export const verifyTokenContext = (appId: string): string => `apps/${appId}/verify_token`
export const accessTokenContext = (connectionId: string): string => `connections/${connectionId}/access_token`
