import { SenderId } from '@parley/contract/ids'
import { List, PageQuery } from '@parley/contract/page'
import { Sender } from '@parley/contract/sender'
import { Type } from 'typebox'
import { pageOf, readPage } from '../../http/page.ts'
import { route } from '../../http/route.ts'
import { getSender, listSenders, toSender } from './senders.ts'

export const senderRoutes = [
  route({
    method: 'GET',
    path: '/v1/senders',
    scope: 'senders:read',
    summary: 'List senders',
    description: 'The phone numbers that the workspace sends from and receives messages on, newest first.',
    tag: 'Senders',
    query: PageQuery,
    reply: List(Sender),
    handle: async ({ db, caller }, { query }) => {
      const page = readPage(query)
      const { rows, total } = await listSenders(db, caller.workspaceId, page)
      return pageOf(page, rows, total, toSender)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/senders/:id',
    scope: 'senders:read',
    summary: 'Get a sender',
    tag: 'Senders',
    params: Type.Object({ id: SenderId }),
    reply: Sender,
    handle: ({ db, caller }, { params }) => getSender(db, caller.workspaceId, params.id),
  }),
]
