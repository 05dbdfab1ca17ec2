import { newObjectId, newSecret, newToken } from '../ids.ts'
import type { Network } from '../network.ts'
import { phoneFor } from '../phones/phones.ts'
import { ControlError, type Parsed } from '../shape.ts'
import type { AccessToken, App, Catalog, Flow, PhoneNumber, Template, Waba } from '../world.ts'
import {
  applySwitches,
  type appShape,
  type catalogShape,
  type Dataset,
  type flowShape,
  type numberShape,
  type phoneChangeShape,
  type templateShape,
  type tokenShape,
  type wabaShape,
} from './shapes.ts'

/** The create functions fill in defaults for fields that are not given. */
export function createApp({ world, changed }: Network, input: Parsed<typeof appShape>): App {
  const id = requireUnused(world.apps, input.id ?? newObjectId(6))
  const app = {
    id,
    name: input.name ?? `App ${id.slice(-4)}`,
    secret: input.secret ?? newSecret(),
    verifyToken: input.verifyToken ?? newSecret(),
    callbackUrl: null,
  }
  world.apps.set(id, app)
  changed()
  return app
}

/** Subscribes the given apps to the new account, by default all apps. */
export function createWaba({ world, changed }: Network, input: Parsed<typeof wabaShape>): Waba {
  const id = requireUnused(world.wabas, input.id ?? newObjectId(1))
  const appIds = input.appIds ?? [...world.apps.keys()]
  for (const appId of appIds) findExisting(world.apps, appId, 'appIds')
  const waba = {
    id,
    name: input.name ?? `Account ${id.slice(-4)}`,
    currency: input.currency ?? 'USD',
    timezoneId: '1',
    subscriptions: Object.fromEntries(appIds.map((appId) => [appId, { override: null }])),
  }
  world.wabas.set(id, waba)
  changed()
  return waba
}

/** The two-step PIN of a number that is registered when it is created. */
const firstPin = '314159'

export function createNumber({ world, timers, changed }: Network, input: Parsed<typeof numberShape>): PhoneNumber {
  findExisting(world.wabas, input.wabaId, 'wabaId')
  const id = requireUnused(world.numbers, input.id ?? newObjectId(1))
  const phoneNumber = input.phoneNumber.replaceAll(/\D/g, '')
  for (const other of world.numbers.values())
    if (other.phoneNumber === phoneNumber)
      throw new ControlError(`phoneNumber: ${phoneNumber} is already in use.`, 'phoneNumber', 409)
  const { switches, ...settings } = input
  const number: PhoneNumber = {
    verifiedName: `Business ${phoneNumber.slice(-4)}`,
    qualityRating: 'GREEN',
    status: 'CONNECTED',
    codeVerificationStatus: 'VERIFIED',
    nameStatus: 'APPROVED',
    accountMode: 'LIVE',
    messagingLimit: 'TIER_2K',
    isOfficialBusinessAccount: false,
    isOnBizApp: false,
    throughputMps: 80,
    allowedRecipients: null,
    ...settings,
    id,
    phoneNumber,
    pin: input.status === undefined || input.status === 'CONNECTED' ? firstPin : null,
    onboardedAt: timers.now().toISOString(),
    override: null,
    switches: {},
  }
  applySwitches(number.switches, switches ?? {})
  world.numbers.set(id, number)
  changed()
  return number
}

export function createToken({ world, changed }: Network, input: Parsed<typeof tokenShape>): AccessToken {
  findExisting(world.apps, input.appId, 'appId')
  for (const wabaId of input.wabaIds ?? []) findExisting(world.wabas, wabaId, 'wabaIds')
  const token = {
    token: requireUnused(world.tokens, input.token ?? newToken()),
    appId: input.appId,
    wabaIds: input.wabaIds ?? null,
    expiresAt: input.expiresAt ?? null,
    revoked: input.revoked ?? false,
    ...(input.scopes ? { scopes: input.scopes } : {}),
  }
  world.tokens.set(token.token, token)
  changed()
  return token
}

export function createTemplate({ world, timers, changed }: Network, input: Parsed<typeof templateShape>): Template {
  findExisting(world.wabas, input.wabaId, 'wabaId')
  const template: Template = {
    status: 'APPROVED',
    parameterFormat: 'POSITIONAL',
    rejectedReason: 'NONE',
    qualityScore: 'GREEN',
    createdAt: timers.now().toISOString(),
    ...input,
    id: requireUnused(world.templates, input.id ?? newObjectId(7)),
  }
  world.templates.set(template.id, template)
  changed()
  return template
}

export function createFlow({ world, timers, changed }: Network, input: Parsed<typeof flowShape>): Flow {
  findExisting(world.wabas, input.wabaId, 'wabaId')
  const id = requireUnused(world.flows, input.id ?? newObjectId(8))
  const flow = { status: 'PUBLISHED', categories: ['OTHER'], updatedAt: timers.now().toISOString(), ...input, id }
  world.flows.set(id, flow)
  changed()
  return flow
}

export function createCatalog({ world, changed }: Network, input: Parsed<typeof catalogShape>): Catalog {
  findExisting(world.wabas, input.wabaId, 'wabaId')
  const id = requireUnused(world.catalogs, input.id ?? newObjectId(3))
  const catalog = { name: 'Catalogue', ...input, id }
  world.catalogs.set(id, catalog)
  changed()
  return catalog
}

export function changePhone(network: Network, waId: string, input: Parsed<typeof phoneChangeShape>) {
  const phone = phoneFor(network, waId)
  const { switches, ...rest } = input
  Object.assign(phone, rest)
  applySwitches(phone.switches, switches ?? {})
  network.log.publish({ name: 'phone', data: phone })
  network.changed()
  return phone
}

/** Loads a dataset into an empty state. Objects are created after those they refer to. */
export function loadDataset(network: Network, dataset: Dataset): void {
  for (const app of dataset.apps ?? []) createApp(network, app)
  for (const waba of dataset.wabas ?? []) createWaba(network, waba)
  for (const number of dataset.numbers ?? []) createNumber(network, number)
  for (const token of dataset.tokens ?? []) createToken(network, token)
  for (const template of dataset.templates ?? []) createTemplate(network, template)
  for (const flow of dataset.flows ?? []) createFlow(network, flow)
  for (const catalog of dataset.catalogs ?? []) createCatalog(network, catalog)
  for (const [waId, phone] of Object.entries(dataset.phones ?? {})) changePhone(network, waId, phone)
  applySwitches(network.world.switches, dataset.switches ?? {})
}

export function findExisting<T>(objects: Map<string, T>, id: string, field: string): T {
  const object = objects.get(id)
  if (object === undefined) throw new ControlError(`${field}: ${id} not found.`, field, 404)
  return object
}

function requireUnused(objects: Map<string, unknown>, id: string): string {
  if (objects.has(id)) throw new ControlError(`id: ${id} is already in use.`, 'id', 409)
  return id
}
