import type { ConsoleForm, FormFilters } from '@parley/contract/console/forms'
import { rawNumbersAsText } from '@parley/contract/exact-json'
import type { FlowResponseFilters, FlowResponseWithFiles } from '@parley/contract/flow-response'
import type { PagedList } from '../../db/paged-list.ts'
import { listFlowResponses, type ResponseWithFiles, toFlowResponseWithFiles, totalOfFlowResponses } from './flows.ts'

export const forms: PagedList<FormFilters, ResponseWithFiles, ConsoleForm> = {
  rows: (db, workspaceId, filters, page) => listFlowResponses(db, workspaceId, toFilters(filters), page),
  total: (db, workspaceId, filters) => totalOfFlowResponses(db, workspaceId, toFilters(filters)),
  toItem: (row) => toConsoleForm(toFlowResponseWithFiles(row)),
  head: ['id', 'received_at', 'from', 'from_user_id', 'flow_id', 'flow_token', 'template_id', 'files', 'response'],
  toLines({ id, received_at, from, from_user_id, flow_id, flow_token, template_id, files, response }) {
    // The answers of a form are one cell, as JSON: forms have different fields.
    const answers = response && JSON.stringify(response)
    return [[id, received_at, from, from_user_id, flow_id, flow_token, template_id, files.length, answers]]
  },
}

const toFilters = ({ phone, flow, from, to }: FormFilters): FlowResponseFilters => ({
  ...(phone !== undefined && { from: phone }),
  ...(flow !== undefined && { flow_id: flow }),
  ...(from !== undefined && { received_after: from }),
  ...(to !== undefined && { received_before: to }),
})

/** Numbers that the browser would round are text here. */
export const toConsoleForm = (form: FlowResponseWithFiles): ConsoleForm => ({
  ...form,
  response: rawNumbersAsText(form.response) as ConsoleForm['response'],
})
