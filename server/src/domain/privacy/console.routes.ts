import { Readable } from 'node:stream'
import { Erasure, NamedContact } from '@parley/contract/console/erasures'
import { List } from '@parley/contract/page'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed } from '../../http/console/stream.ts'
import { unpagedList } from '../../http/page.ts'
import { beginErasure } from './erase.ts'
import { listErasures, readNamed, requireErasure } from './erasures.ts'
import { exportPerson } from './export.ts'

/** The audit entries do not say whose data it was. */
export const privacyConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/contact.json',
    who: 'contacts:manage',
    confirmed: true,
    audited: true,
    query: NamedContact,
    reply: Streamed,
    async handle({ db, clock, workspaceId, setHeader, audit }, { query }) {
      const person = readNamed(query)
      await audit({ action: 'contact.export' })
      setHeader('Content-Type', 'application/json; charset=utf-8')
      setHeader('Content-Disposition', 'attachment; filename="contact.json"')
      return Readable.from(exportPerson(db, clock, workspaceId, person), { objectMode: false })
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/erasures',
    who: 'contacts:manage',
    reply: List(Erasure),
    handle: async ({ db, workspaceId }) => unpagedList(await listErasures(db, workspaceId)),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/erasures',
    who: 'contacts:manage',
    confirmed: true,
    body: NamedContact,
    reply: Erasure,
    status: 202,
    async handle({ db, clock, workspaceId, person, audit }, { body }) {
      const id = await beginErasure(db, clock, { workspaceId, person: readNamed(body), askedBy: person.email })
      await audit({ action: 'contact.erase', target: id })
      return requireErasure(db, id)
    },
  }),
]
