import {
  ChangedKey,
  ConsoleKey,
  CreatedKey,
  KeyChange,
  KeyFilters,
  KeyRotation,
  ListedKey,
  MyAddress,
  NewKey,
} from '@parley/contract/console/keys'
import { List } from '@parley/contract/page'
import { csvRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { ById } from '../../http/console/shapes.ts'
import { unpagedList } from '../../http/page.ts'
import { changesOf } from '../../lib/changes.ts'
import { exportKeys, listConsoleKeys, toConsoleKey } from './console.ts'
import { readKeyInput, rulesOf, widens } from './key-input.ts'
import { changeKey, createKey, getKey, revokeKey, warningsOf } from './keys.ts'
import { rotateKey, rotationEntry } from './rotate.ts'

/** Manage the API keys of a workspace in the console. */
export const keyConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/keys',
    who: 'keys:read',
    mayLag: true,
    query: KeyFilters,
    reply: List(ListedKey),
    handle: async ({ db, clock, workspaceId }, { query }) =>
      unpagedList(await listConsoleKeys(db, clock, workspaceId, query)),
  }),
  csvRoute({
    path: '/keys',
    who: 'keys:read',
    query: KeyFilters,
    lines: ({ db, clock, workspaceId }, filters) => exportKeys(db, clock, workspaceId, filters),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/keys/:id',
    who: 'keys:read',
    params: ById,
    reply: ConsoleKey,
    handle: async ({ db, clock, workspaceId }, { params }) =>
      toConsoleKey(await getKey(db, params.id, workspaceId), clock.now()),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/my-address',
    who: 'keys:read',
    reply: MyAddress,
    handle: ({ address }) => ({ address }),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/keys',
    who: 'keys:manage',
    confirmed: true,
    body: NewKey,
    reply: CreatedKey,
    status: 201,
    async handle({ db, clock, workspaceId, person, audit }, { body }) {
      const { name, scopes } = body
      const input = { ...readKeyInput(body), name, scopes, workspaceId, createdBy: person.email }
      const { key, secret } = await createKey(db, clock, input)
      await audit({ action: 'key.create', target: key.id, targetName: key.name, after: rulesOf(key) })
      return { key: toConsoleKey(key, clock.now()), secret, warnings: warningsOf(key) }
    },
  }),
  workspaceRoute({
    method: 'PATCH',
    path: '/keys/:id',
    who: 'keys:manage',
    params: ById,
    body: KeyChange,
    reply: ChangedKey,
    async handle({ db, clock, workspaceId, requireConfirmation, audit }, { params, body }) {
      const { before, key } = await changeKey(db, clock, params.id, readKeyInput(body), workspaceId)
      if (widens(before, key)) requireConfirmation()
      const changes = changesOf(rulesOf(before), rulesOf(key))
      await audit({ action: 'key.change', target: key.id, targetName: key.name, ...changes })
      return { key: toConsoleKey(key, clock.now()), warnings: warningsOf(key) }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/keys/:id/rotate',
    who: 'keys:manage',
    confirmed: true,
    params: ById,
    body: KeyRotation,
    reply: CreatedKey,
    status: 201,
    async handle({ db, clock, workspaceId, person, audit }, { params, body }) {
      const input = { workspaceId, id: params.id, graceHours: body.grace_hours, createdBy: person.email }
      const rotated = await rotateKey(db, clock, input)
      await audit(rotationEntry(rotated))
      const { key, secret } = rotated
      return { key: toConsoleKey(key, clock.now()), secret, warnings: warningsOf(key) }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/keys/:id/revoke',
    who: 'keys:manage',
    params: ById,
    reply: ConsoleKey,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const key = await revokeKey(db, clock, params.id, workspaceId)
      await audit({ action: 'key.revoke', target: key.id, targetName: key.name })
      return toConsoleKey(key, clock.now())
    },
  }),
]
