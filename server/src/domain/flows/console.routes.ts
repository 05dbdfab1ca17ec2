import { ConsoleForm, FormFilters, FormQuery } from '@parley/contract/console/forms'
import { FlowFileParams, FlowResponseParams } from '@parley/contract/flow-response'
import { sendBytes } from '../../http/bytes.ts'
import { listRoutes } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed, streamBytes } from '../../http/console/stream.ts'
import { forms, getForm } from './console.ts'
import { openFlowFile } from './flows.ts'

export const flowConsoleRoutes = (): ConsoleRoute[] => [
  ...listRoutes(
    { path: '/forms', who: 'forms:read', query: FormQuery, filters: FormFilters, item: ConsoleForm },
    forms,
  ),
  workspaceRoute({
    method: 'GET',
    path: '/forms/:id',
    who: 'forms:read',
    params: FlowResponseParams,
    reply: ConsoleForm,
    handle: ({ db, workspaceId }, { params }) => getForm(db, workspaceId, params.id),
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
