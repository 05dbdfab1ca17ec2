import type { SendTemplate } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { type Prices, readPrices } from '../../credits/prices.ts'
import { findSendersToUse, type UsableSender, type WantedSender } from '../../senders/senders.ts'
import { findTemplatesToSend, type SendableTemplate, type WantedTemplate } from '../../templates/templates.ts'

/** What every send request needs from the database. */
export interface Wanted {
  workspaceId: string
  /** Null if the request names a sender with a malformed ID. Without an ID, the workspace's only sender. */
  sender: { id: string | undefined } | null
  template: SendTemplate | null
}

export interface LookedUp {
  /** At most two. */
  senders: UsableSender[]
  templates: SendableTemplate[]
  prices: Prices
}

export type LookUp = (wanted: Wanted) => Promise<LookedUp>

/** Reads the senders, templates and prices of several requests, with one statement each. */
export async function lookUpAll(db: Db, all: readonly Wanted[]): Promise<LookedUp[]> {
  const [senders, templates, prices] = await Promise.all([
    forEach(all, senderOf, (wanted) => findSendersToUse(db, wanted)),
    forEach(all, templateOf, (wanted) => findTemplatesToSend(db, wanted)),
    readPrices(db),
  ])
  return all.map((_, index) => ({ senders: senders[index] ?? [], templates: templates[index] ?? [], prices }))
}

/** Calls `find` with the parts of those requests that have one. Returns the results in the order of all requests. */
async function forEach<Part, Found>(
  all: readonly Wanted[],
  partOf: (wanted: Wanted) => Part | null,
  find: (parts: Part[]) => Promise<Found[]>,
): Promise<(Found | undefined)[]> {
  const found = all.map((): Found | undefined => undefined)
  const parts = all.flatMap((wanted, index) => {
    const part = partOf(wanted)
    return part === null ? [] : [{ index, part }]
  })
  const results = await find(parts.map(({ part }) => part))
  for (const [n, { index }] of parts.entries()) found[index] = results[n]
  return found
}

const senderOf = ({ workspaceId, sender }: Wanted): WantedSender | null =>
  sender && { workspaceId, senderId: (sender.id !== undefined && withoutPrefix('snd', sender.id)) || null }

function templateOf({ workspaceId, template }: Wanted): WantedTemplate | null {
  if (template === null) return null
  // The request may be invalid, and a value that PostgreSQL cannot take would fail the statement for all requests.
  const { id, name, language }: Record<string, unknown> = { ...template }
  const templateId = (typeof id === 'string' && withoutPrefix('tpl', id)) || null
  if (templateId !== null) return { workspaceId, templateId, name: null, language: null }
  if (!isStorable(name) || !isStorable(language)) return null
  return { workspaceId, templateId, name, language }
}

/** PostgreSQL cannot store NUL. */
function isStorable(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}
