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

const usualPrice = 1

/** The price of a message: that of its template's category, else that of its type, else 1. */
export async function priceOf(db: Db, type: SendType, category: string | null): Promise<number> {
  const list = await readList(db)
  return (category === null ? undefined : list.get(`${type}.${category}`)) ?? list.get(type) ?? usualPrice
}

const readList = async (db: Db): Promise<ReadonlyMap<string, number>> =>
  new Map((await priceRows(db)).map(({ item, credits }) => [item, credits]))

/** Every price, those that nobody set included. */
export async function listPrices(db: Db): Promise<{ item: string; credits: number }[]> {
  const set = await readList(db)
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
}
