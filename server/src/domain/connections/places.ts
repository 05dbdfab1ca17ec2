/** Where each secret lies; sealed bytes open in their own place only. */
export const appSecretPlace = (appId: string): string => `apps/${appId}/app_secret`
export const verifyTokenPlace = (appId: string): string => `apps/${appId}/verify_token`
export const accessTokenPlace = (connectionId: string): string => `connections/${connectionId}/access_token`
