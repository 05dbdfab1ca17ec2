import { listPrices, setPrice } from '@parley/server/domain/credits/prices'
import { change } from '../audit.ts'
import { type Command, UsageError } from '../command.ts'
import { plural } from '../format.ts'
import { jsonList, table } from '../table.ts'

export const commands: readonly Command[] = [
  {
    name: 'price list',
    examples: ['price list'],
    async run({ db }) {
      const prices = await listPrices(await db())
      const rows = prices.map(({ item, credits }) => [item, String(credits)])
      return { lines: table(['ITEM', 'CREDITS'], rows, ''), json: jsonList(prices) }
    },
  },
  {
    name: 'price set',
    details: 'Applies to messages accepted from now on. "./parley price list" shows the items.',
    args: ['ITEM', 'CREDITS'],
    examples: ['price set text 1', 'price set template.MARKETING 3'],
    async run(call) {
      const [item = '', credits = ''] = call.args
      if (!/^\d{1,9}$/.test(credits)) throw new UsageError(`Invalid CREDITS "${credits}". Enter a whole number.`)
      await change(call, async (tx, audit) => {
        const before = (await listPrices(tx)).find((each) => each.item === item)
        await setPrice(tx, item, Number(credits))
        await audit({
          action: 'price.set',
          workspaceId: null,
          target: item,
          targetName: item,
          before: { credits: before?.credits ?? null },
          after: { credits: Number(credits) },
        })
      })
      return {
        lines: [`Set the price of ${item} to ${plural(Number(credits), 'credit')}.`],
        json: { item, credits: Number(credits) },
      }
    },
  },
]
