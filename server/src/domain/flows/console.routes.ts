import { ConsoleForm, FormQuery } from '@parley/contract/console/forms'
import { ConsoleList } from '@parley/contract/console/list'
import { rawNumbersAsText } from '@parley/contract/exact-json'
import { FlowFileParams, FlowResponseParams, type FlowResponseWithFiles } from '@parley/contract/flow-response'
import { sendBytes } from '../../http/bytes.ts'
import { consolePageOf, readConsolePage } from '../../http/console/list.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed, streamBytes } from '../../http/console/stream.ts'
import { getFlowResponse, listFlowResponses, markOf, openFlowFile, toFlowResponseWithFiles } from './flows.ts'

export const flowConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/forms',
    who: 'forms:read',
    mayLag: true,
    query: FormQuery,
    reply: ConsoleList(ConsoleForm),
    async handle({ db, workspaceId }, { query: { phone, flow, from, to, ...paging } }) {
      const page = readConsolePage(paging)
      const filters = {
        ...(phone !== undefined && { from: phone }),
        ...(flow !== undefined && { flow_id: flow }),
        ...(from !== undefined && { received_after: from }),
        ...(to !== undefined && { received_before: to }),
      }
      const rows = await listFlowResponses(db, workspaceId, filters, page)
      return consolePageOf(page, rows, markOf, (row) => toConsoleForm(toFlowResponseWithFiles(row)))
    },
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

/** Numbers that the browser would round are text here. */
const toConsoleForm = (form: FlowResponseWithFiles): ConsoleForm => ({
  ...form,
  response: rawNumbersAsText(form.response) as ConsoleForm['response'],
})
