import { listPrices, setPrice } from '@parley/server/domain/credits/prices'
import { type Command, UsageError } from '../command.ts'
import { jsonList, table } from '../table.ts'

export const priceCommands: readonly Command[] = [
  {
    name: 'price list',
    summary: 'Show what each kind of message costs',
    async run({ db }) {
      const prices = await listPrices(await db())
      const rows = prices.map(({ item, credits }) => [item, String(credits)])
      return { lines: table(['ITEM', 'CREDITS'], rows, ''), json: jsonList(prices) }
    },
  },
  {
    name: 'price set',
    summary: 'Set what a type of message, or a category of templates (template.MARKETING), costs from now on',
    args: ['ITEM', 'CREDITS'],
    async run({ db, args: [item = '', credits = ''] }) {
      if (!/^\d{1,9}$/.test(credits)) throw new UsageError(`CREDITS must be a whole number, not "${credits}".`)
      await setPrice(await db(), item, Number(credits))
      return { lines: [`${item} costs ${Number(credits)} from now on.`], json: { item, credits: Number(credits) } }
    },
  },
]
