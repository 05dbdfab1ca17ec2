import { Price } from '@parley/contract/console/operator'
import { List } from '@parley/contract/page'
import { Type } from 'typebox'
import { type ConsoleRoute, operatorRoute } from '../../http/console/route.ts'
import { unpagedList } from '../../http/page.ts'
import { listPrices, setPrice } from './prices.ts'

/** The prices of messages, which the operator sets. */
export const operatorPriceRoutes = (): ConsoleRoute[] => [
  operatorRoute({
    method: 'GET',
    path: '/operator/prices',
    reply: List(Price),
    handle: async ({ db }) => unpagedList(await listPrices(db)),
  }),
  operatorRoute({
    method: 'PUT',
    path: '/operator/prices/:item',
    confirmed: true,
    params: Type.Object({ item: Type.String({ maxLength: 100 }) }, { additionalProperties: false }),
    body: Type.Object({ credits: Type.Integer() }, { additionalProperties: false }),
    reply: Price,
    async handle({ db, audit }, { params: { item }, body: { credits } }) {
      const before = (await listPrices(db)).find((each) => each.item === item)
      await setPrice(db, item, credits)
      await audit({
        action: 'price.set',
        target: item,
        targetName: item,
        before: { credits: before?.credits ?? null },
        after: { credits },
      })
      return { item, credits }
    },
  }),
]
