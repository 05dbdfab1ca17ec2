import { ConsoleForm, FormFilters, FormQuery } from '@parley/contract/console/forms'
import { ConsoleList } from '@parley/contract/console/list'
import { FlowFileParams, FlowResponseParams } from '@parley/contract/flow-response'
import { sendBytes } from '../../http/bytes.ts'
import { csvRoute, totalRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed, streamBytes } from '../../http/console/stream.ts'
import { consolePageOf, readConsolePage } from '../../http/page.ts'
import { exportForms, listForms, toConsoleForm, totalOfForms } from './console.ts'
import { getFlowResponse, markOf, openFlowFile, toFlowResponseWithFiles } from './flows.ts'

export const flowConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/forms',
    who: 'forms:read',
    mayLag: true,
    query: FormQuery,
    reply: ConsoleList(ConsoleForm),
    async handle({ db, workspaceId }, { query }) {
      const page = readConsolePage(query)
      const rows = await listForms(db, workspaceId, query, page)
      return consolePageOf(page, rows, markOf, (row) => toConsoleForm(toFlowResponseWithFiles(row)))
    },
  }),
  totalRoute({
    path: '/forms',
    who: 'forms:read',
    query: FormFilters,
    total: ({ db, workspaceId }, filters) => totalOfForms(db, workspaceId, filters),
  }),
  csvRoute({
    path: '/forms',
    who: 'forms:read',
    query: FormFilters,
    lines: ({ db, workspaceId }, filters) => exportForms(db, workspaceId, filters),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/forms/:id',
    who: 'forms:read',
    params: FlowResponseParams,
    reply: ConsoleForm,
    handle: async ({ db, workspaceId }, { params }) => toConsoleForm(await getFlowResponse(db, workspaceId, params.id)),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/forms/:id/files/:index/media',
    who: 'forms:read',
    unaudited: 'shown as a part of the form; a player requests a video in many parts',
    params: FlowFileParams,
    reply: Streamed,
    async handle(context, { params }) {
      const { db, clock, workspaceId } = context
      const file = await openFlowFile(db, clock, workspaceId, params.id, Number(params.index))
      const parts = { range: context.header('range'), ifRange: context.header('if-range') }
      return streamBytes(context, sendBytes(file, parts))
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/forms/:id/files/:index',
    who: 'forms:read',
    audited: true,
    params: FlowFileParams,
    reply: Streamed,
    async handle(context, { params }) {
      const { db, clock, workspaceId } = context
      const file = await openFlowFile(db, clock, workspaceId, params.id, Number(params.index))
      const after = { index: Number(params.index) }
      await context.audit({ action: 'form.download', target: params.id, after })
      return streamBytes(context, sendBytes(file, { range: undefined, ifRange: undefined }))
    },
  }),
]
