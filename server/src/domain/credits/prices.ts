import { type SendType, sendTypes } from '@parley/contract/send'
import { templateCategories } from '@parley/contract/template'
import type { Db } from '../../db/db.ts'
import { refuseParam } from '../../lib/refuse.ts'
import { priceRows, upsertPrice } from './credits.sql.ts'

/** Every item with a price: the message types, and the categories of templates. */
const priceItems: readonly string[] = [...sendTypes, ...templateCategories.map((category) => `template.${category}`)]

const defaultPrice = 1

/** The prices that the operator has set, by item. */
export type Prices = ReadonlyMap<string, number>

/** The price of the template's category, or else of the message type, or else 1. */
export const priceOf = (prices: Prices, type: SendType, category: string | null): number =>
  (category === null ? undefined : prices.get(`${type}.${category}`)) ?? prices.get(type) ?? defaultPrice

export const readPrices = async (db: Db): Promise<Prices> =>
  new Map((await priceRows(db)).map(({ item, credits }) => [item, credits]))

/** The price of every item, including those with the default price. */
export async function listPrices(db: Db): Promise<{ item: string; credits: number }[]> {
  const prices = await readPrices(db)
  return priceItems.map((item) => {
    const type = item.split('.')[0] as string
    return { item, credits: prices.get(item) ?? prices.get(type) ?? defaultPrice }
  })
}

/** Applies to messages accepted from now on. */
export async function setPrice(db: Db, item: string, credits: number): Promise<void> {
  if (!priceItems.includes(item))
    refuseParam('item', 'invalid', `There is no price for "${item}". Use one of: ${priceItems.join(', ')}.`)
  if (!Number.isInteger(credits) || credits < 0 || credits > 1_000_000) {
    refuseParam('credits', 'out_of_range', 'The price must be a whole number from 0 to 1000000.')
  }
  await upsertPrice(db, item, credits)
}
