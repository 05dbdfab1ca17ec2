import { FlowFileParams, FlowResponse, FlowResponseFilters, FlowResponseParams } from '@parley/contract/flow-response'
import { List, pageQuery } from '@parley/contract/page'
import { Type } from 'typebox'
import { sendBytes } from '../../http/bytes.ts'
import { pageOf, readPage } from '../../http/page.ts'
import { bytesRoute, route } from '../../http/route.ts'
import {
  getFlowResponse,
  listFlowResponses,
  openFlowFile,
  toFlowResponse,
  toFlowResponseWithFiles,
  totalOfFlowResponses,
} from './flows.ts'

export const flowRoutes = [
  route({
    method: 'GET',
    path: '/v1/flow_responses',
    scope: 'flow_responses:read',
    summary: 'List form submissions',
    description: 'Newest first.',
    tag: 'Forms',
    query: Type.Object({ ...pageQuery, ...FlowResponseFilters.properties }, { additionalProperties: false }),
    reply: List(FlowResponse),
    handle: async ({ db, caller }, { query }) => {
      const page = readPage(query)
      const [rows, total] = await Promise.all([
        listFlowResponses(db, caller.workspaceId, query, page),
        totalOfFlowResponses(db, caller.workspaceId, query),
      ])
      return pageOf(page, rows, total, (row) => toFlowResponse(toFlowResponseWithFiles(row)))
    },
  }),
  route({
    method: 'GET',
    path: '/v1/flow_responses/:id',
    scope: 'flow_responses:read',
    summary: 'Get a form submission',
    tag: 'Forms',
    params: FlowResponseParams,
    reply: FlowResponse,
    handle: async ({ db, caller }, { params }) =>
      toFlowResponse(await getFlowResponse(db, caller.workspaceId, params.id)),
  }),
  bytesRoute({
    method: 'GET',
    path: '/v1/flow_responses/:id/files/:index',
    scope: 'flow_responses:read',
    summary: 'Download an uploaded file',
    description:
      'Returns the bytes as an attachment. While the file is being downloaded from WhatsApp, the request waits up to ' +
      'two seconds, then fails with 503 and `Retry-After`. If the files of the workspace have reached their quota, the error ' +
      'has `"reason": "quota_exceeded"` in `details`, and the file is downloaded when there is space. If the file has ' +
      'expired, the request fails with 410.',
    tag: 'Forms',
    params: FlowFileParams,
    errors: ['file_expired'],
    handle: async (context, { params }) => {
      const { db, clock, caller } = context
      const file = await openFlowFile(db, clock, caller.workspaceId, params.id, Number(params.index))
      return sendBytes(file, { range: context.header('range'), ifRange: context.header('if-range') })
    },
  }),
]
