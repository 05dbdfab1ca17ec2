import { Readable } from 'node:stream'
import { Contact, ContactParams, ConversationMessage, ConversationQuery } from '@parley/contract/console/contacts'
import { ConsoleList } from '@parley/contract/console/list'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed } from '../../http/console/stream.ts'
import { consolePageOf, readConsolePage } from '../../http/page.ts'
import { exportConversation, getContact, getConversation } from './contacts.ts'

export const contactConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/contacts/:contact',
    who: 'messages:read',
    params: ContactParams,
    reply: Contact,
    handle: ({ db, workspaceId }, { params }) => getContact(db, workspaceId, params.contact),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/contacts/:contact/messages',
    who: 'messages:read',
    params: ContactParams,
    query: ConversationQuery,
    reply: ConsoleList(ConversationMessage),
    async handle({ db, workspaceId }, { params, query }) {
      const page = readConsolePage(query)
      const rows = await getConversation(db, workspaceId, params.contact, page)
      return consolePageOf(page, rows, ({ message }) => message)
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/contacts/:contact/conversation.json',
    who: 'contacts:manage',
    confirmed: true,
    audited: true,
    params: ContactParams,
    reply: Streamed,
    async handle({ db, workspaceId, setHeader, audit }, { params }) {
      // The entry does not say whose conversation it was.
      await audit({ action: 'data.export', targetName: 'conversation.json' })
      setHeader('Content-Type', 'application/json; charset=utf-8')
      setHeader('Content-Disposition', 'attachment; filename="conversation.json"')
      return Readable.from(exportConversation(db, workspaceId, params.contact), { objectMode: false })
    },
  }),
]
