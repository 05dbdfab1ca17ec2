import type { FieldError } from '@parley/contract/field-errors'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, newUuid } from '../../lib/ids.ts'
import { refuse, refuseInvalid, refuseParam } from '../../lib/refuse.ts'
import { type SecretKeys, seal } from '../../lib/seal.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { type App, allApps, appById, insertApp, setGraphUrl } from './apps.sql.ts'
import { appSecretContext, verifyTokenContext } from './seal-contexts.ts'

export interface AppInput {
  name: string
  appSecret: string
  verifyToken: string
  graphUrl?: string | undefined
  metaAppId?: string | undefined
}

export const defaultGraphUrl = 'https://graph.facebook.com'

/** The path of the app's callback URL. */
export const ingressPath = (appId: string): string => `/network/whatsapp/${appId}`

export { allApps as listApps, deleteApp, setMetaAppId } from './apps.sql.ts'
export type { App }

export const createApp = async (db: Db, clock: Clock, keys: SecretKeys, input: AppInput): Promise<App> =>
  (await storeApp(db, clock, keys, input)).app

/** Stores an app. If another process has just stored the same Meta app, returns that one. */
export async function storeApp(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  input: AppInput,
): Promise<{ app: App; isNew: boolean }> {
  const { name, appSecret, verifyToken, graphUrl } = validateApp(input)
  const id = newUuid(clock.now().getTime())
  const app = { id, name, graphUrl, metaAppId: input.metaAppId ?? null, createdAt: clock.now() }
  const inserted = await insertApp(db, {
    ...app,
    appSecretSealed: seal(keys, appSecret, appSecretContext(id)),
    verifyTokenSealed: seal(keys, verifyToken, verifyTokenContext(id)),
  })
  if (inserted > 0) return { app, isNew: true }
  const stored = await findApp(db, graphUrl, app.metaAppId)
  if (!stored) throw new Error(`app ${app.metaAppId} was removed while it was stored`)
  return { app: stored, isNew: false }
}

/** The app with this ID at Meta. */
export const findApp = async (db: Db, graphUrl: string, metaAppId: string | null): Promise<App | undefined> =>
  (await allApps(db)).find((app) => app.graphUrl === graphUrl && app.metaAppId === metaAppId)

export async function requireApp(db: Db, id: string): Promise<App> {
  const app = isUuid(id) ? await appById(db, id) : undefined
  return app ?? refuse('not_found', { message: `App ${id} not found.` })
}

/** Changes the base URL of the Graph API that the app uses. */
export async function changeGraphUrl(db: Db, id: string, graphUrl: string): Promise<App> {
  const app = await requireApp(db, id)
  const read = readGraphUrl(graphUrl)
  if ('fault' in read) refuseParam('graph_url', 'invalid', read.fault)
  const other = app.metaAppId === null ? undefined : await findApp(db, read.origin, app.metaAppId)
  if (other && other.id !== id)
    refuseParam('graph_url', 'invalid', `App ${other.id} has the ID ${app.metaAppId} at this URL already.`)
  await setGraphUrl(db, app.id, read.origin)
  return { ...app, graphUrl: read.origin }
}

export function validateApp(input: AppInput): Required<Omit<AppInput, 'metaAppId'>> & { graphUrl: string } {
  const name = input.name.trim()
  const faults = [
    ...textErrors('name', name, 100),
    ...secretErrors('app_secret', input.appSecret, 500),
    ...secretErrors('verify_token', input.verifyToken, 500),
  ]
  const read = readGraphUrl(input.graphUrl ?? defaultGraphUrl)
  if ('fault' in read) faults.push({ param: 'graph_url', code: 'invalid', message: read.fault })
  if (faults.length > 0 || 'fault' in read) refuseInvalid(faults)
  return { name, appSecret: input.appSecret, verifyToken: input.verifyToken, graphUrl: read.origin }
}

/** Only visible ASCII without spaces: the access token is sent in a header. */
export function secretErrors(param: string, text: string, max: number): FieldError[] {
  if (text === '' || /^[\x21-\x7e]+$/.test(text)) return textErrors(param, text, max)
  const message = `The ${param.replace('_', ' ')} must not contain spaces, line breaks or non-ASCII characters.`
  return [{ param, code: 'invalid', message }]
}

/** The access token is sent to this URL, so it must be https unless it is on this machine. */
function readGraphUrl(text: string): { origin: string } | { fault: string } {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || url.username || url.password || url.pathname !== '/' || url.search || url.hash) {
    return { fault: `Enter the Graph URL without a path, for example ${defaultGraphUrl}.` }
  }
  if (url.protocol === 'https:' || isLoopbackUrl(url.href)) return { origin: url.origin }
  return {
    fault:
      'The Graph URL must start with https://. Only URLs on this machine may use http://, such as http://127.0.0.1:8090.',
  }
}

/** A simulated network on this machine: it needs no https. */
export function isLoopbackUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text)
  return (
    protocol === 'http:' && (hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname))
  )
}
