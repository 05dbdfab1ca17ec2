import { type SendType, sendTypes } from '@parley/contract/send'
import { templateCategories } from '@parley/contract/template'
import type { Db } from '../../db/db.ts'
import { refuseParam } from '../../lib/refuse.ts'
import { priceRows, upsertPrice } from './credits.sql.ts'

/** What costs: a type of message, and for templates a category. */
export const priceItems: readonly string[] = [
  ...sendTypes,
  ...templateCategories.map((category) => `template.${category}`),
]

export const usualPrice = 1

type PriceList = ReadonlyMap<string, number>

/** The list as it was read last, by database; a price that is set in another process counts a second later. */
const lists = new WeakMap<object, { list: PriceList; readAtMs: number }>()
const freshMs = 1_000

/** The price of a message: that of its template's category, else that of its type, else 1. */
export async function priceOf(db: Db, now: Date, type: SendType, category: string | null): Promise<number> {
  const list = await listFor(db, now)
  return (category === null ? undefined : list.get(`${type}.${category}`)) ?? list.get(type) ?? usualPrice
}

async function listFor(db: Db, now: Date): Promise<PriceList> {
  const known = lists.get(db.root)
  if (known && Math.abs(now.getTime() - known.readAtMs) < freshMs) return known.list
  const list = new Map((await priceRows(db)).map(({ item, credits }) => [item, credits]))
  lists.set(db.root, { list, readAtMs: now.getTime() })
  return list
}

/** Every price, those that nobody set included. */
export async function listPrices(db: Db): Promise<{ item: string; credits: number }[]> {
  const set = new Map((await priceRows(db)).map(({ item, credits }) => [item, credits]))
  return priceItems.map((item) => {
    const type = item.split('.')[0] as string
    return { item, credits: set.get(item) ?? set.get(type) ?? usualPrice }
  })
}

/** Counts for messages accepted from now on. */
export async function setPrice(db: Db, item: string, credits: number): Promise<void> {
  if (!priceItems.includes(item)) refuseParam('item', 'invalid', `ITEM must be one of ${priceItems.join(', ')}.`)
  if (!Number.isInteger(credits) || credits < 0 || credits > 1_000_000) {
    refuseParam('credits', 'out_of_range', 'The price must be a whole number from 0 to 1000000.')
  }
  await upsertPrice(db, item, credits)
  lists.delete(db.root)
}
