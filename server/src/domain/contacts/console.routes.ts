import { Readable } from 'node:stream'
import {
  Contact,
  ContactListQuery,
  ContactParams,
  ConversationMessage,
  ConversationQuery,
  ListedContact,
} from '@parley/contract/console/contacts'
import { ConsoleList } from '@parley/contract/console/list'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed } from '../../http/console/stream.ts'
import { consolePageOf, readConsolePage, writeCursor } from '../../http/page.ts'
import { listContacts, searchContacts } from './contact-list.ts'
import { exportConversation, getContact, getConversation, markAllRead, markRead } from './contacts.ts'

export const contactConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/contacts',
    who: 'messages:read',
    mayLag: true,
    query: ContactListQuery,
    reply: ConsoleList(ListedContact),
    async handle({ db, workspaceId }, { query: { q, ...query } }) {
      const page = readConsolePage(query)
      const take = page.take - 1
      const { contacts, next, hasMore } =
        q === undefined
          ? await listContacts(db, workspaceId, { ...page, take })
          : await searchContacts(db, workspaceId, q, take)
      return { object: 'list' as const, data: contacts, has_more: hasMore, next_cursor: next && writeCursor(next) }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/contacts/read',
    who: 'messages:read',
    unaudited: 'reading changes nothing for the contact or the API',
    handle: ({ db, clock, workspaceId }) => markAllRead(db, clock, workspaceId),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/contacts/:contact/read',
    who: 'messages:read',
    unaudited: 'reading changes nothing for the contact or the API',
    params: ContactParams,
    handle: ({ db, clock, workspaceId }, { params }) => markRead(db, clock, workspaceId, params.contact),
  }),
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
