import { newSecret, newToken } from '../ids.ts'
import type { World } from '../world.ts'

/** The secrets of the demo app and the access token of its account. */
export interface DemoSecrets {
  appSecret: string
  verifyToken: string
  accessToken: string
}

export const demoAppId = '600000000000001'

export const newDemoSecrets = (): DemoSecrets => ({
  appSecret: newSecret(),
  verifyToken: newSecret(),
  accessToken: newToken(),
})

/** The secrets in a saved state; undefined if it has no demo app. */
export function demoSecretsIn({ apps, tokens }: World): DemoSecrets | undefined {
  const app = apps.get(demoAppId)
  const token = [...tokens.values()].find(({ appId }) => appId === demoAppId)
  if (!app || !token) return undefined
  return { appSecret: app.secret, verifyToken: app.verifyToken, accessToken: token.token }
}
