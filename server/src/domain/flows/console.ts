import type { ConsoleForm, FormFilters } from '@parley/contract/console/forms'
import { rawNumbersAsText } from '@parley/contract/exact-json'
import type { FlowResponseFilters, FlowResponseWithFiles } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import type { PagedList } from '../../db/paged-list.ts'
import { contactNames } from '../search/find.ts'
import {
  getFlowResponse,
  listFlowResponses,
  type ResponseWithFiles,
  toFlowResponseWithFiles,
  totalOfFlowResponses,
} from './flows.ts'

type NamedResponse = ResponseWithFiles & Pick<ConsoleForm, 'contact_name'>

export const forms: PagedList<FormFilters, NamedResponse, ConsoleForm> = {
  async rows(db, workspaceId, filters, page) {
    const rows = await listFlowResponses(db, workspaceId, toFilters(filters), page)
    const people = rows.map(({ sent_by, sent_by_user_id }) => sent_by ?? sent_by_user_id)
    const names = await contactNames(db, workspaceId, people)
    return rows.map((row, index) => ({ ...row, contact_name: names.get(people[index] ?? null) ?? null }))
  },
  total: (db, workspaceId, filters) => totalOfFlowResponses(db, workspaceId, toFilters(filters)),
  toItem: (row) => toConsoleForm(toFlowResponseWithFiles(row), row.contact_name),
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

export async function getForm(db: Db, workspaceId: string, id: string): Promise<ConsoleForm> {
  const form = await getFlowResponse(db, workspaceId, id)
  const person = form.from ?? form.from_user_id
  return toConsoleForm(form, (await contactNames(db, workspaceId, [person])).get(person) ?? null)
}

/** Numbers that the browser would round are text here. */
const toConsoleForm = (form: FlowResponseWithFiles, contactName: string | null): ConsoleForm => ({
  ...form,
  contact_name: contactName,
  response: rawNumbersAsText(form.response) as ConsoleForm['response'],
})
