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
    findSendersToUse(db, all.map(senderOf)),
    findTemplatesToSend(db, all.map(templateOf)),
    readPrices(db),
  ])
  return all.map((_, index) => ({ senders: senders[index] ?? [], templates: templates[index] ?? [], prices }))
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
