import { newSecret, newToken } from '../ids.ts'
import type { World } from '../world.ts'

/** The secrets of the demo app and the access token of its account. */
export interface DemoSecrets {
  appSecret: string
  verifyToken: string
  accessToken: string
}

export const demoAppId = '600000000000001'

/** Earlier versions used the same secrets everywhere. They are replaced wherever they are found. */
export const publicDemoSecrets: DemoSecrets = {
  appSecret: 'demo-app-secret',
  verifyToken: 'demo-verify-token',
  accessToken: 'demo-access-token',
}

export const newDemoSecrets = (): DemoSecrets => ({
  appSecret: newSecret(),
  verifyToken: newSecret(),
  accessToken: newToken(),
})

/** The secrets in a saved state; undefined if it has no demo app, or still the secrets of earlier versions. */
export function demoSecretsIn({ apps, tokens }: World): DemoSecrets | undefined {
  const app = apps.get(demoAppId)
  const token = [...tokens.values()].find(({ appId }) => appId === demoAppId)
  if (!app || !token || app.secret === publicDemoSecrets.appSecret) return undefined
  return { appSecret: app.secret, verifyToken: app.verifyToken, accessToken: token.token }
}

/** Gives the demo app of a saved state these secrets, and replaces the access token of earlier versions. */
export function adoptDemoSecrets({ apps, tokens }: World, secrets: DemoSecrets): void {
  const app = apps.get(demoAppId)
  if (app) Object.assign(app, { secret: secrets.appSecret, verifyToken: secrets.verifyToken })
  const token = tokens.get(publicDemoSecrets.accessToken)
  if (!token) return
  tokens.delete(token.token)
  tokens.set(secrets.accessToken, { ...token, token: secrets.accessToken })
}
