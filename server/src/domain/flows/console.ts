import type { ConsoleForm, FormFilters } from '@parley/contract/console/forms'
import type { ListTotal } from '@parley/contract/console/list'
import { rawNumbersAsText } from '@parley/contract/exact-json'
import type { FlowResponseFilters, FlowResponseWithFiles } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { exportNewestFirst } from '../../lib/csv-export.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { listFlowResponses, markOf, toFlowResponseWithFiles, totalOfFlowResponses } from './flows.ts'

export const listForms = (db: Db, workspaceId: string, filters: FormFilters, page: KeySet) =>
  listFlowResponses(db, workspaceId, toFilters(filters), page)

export const totalOfForms = (db: Db, workspaceId: string, filters: FormFilters): Promise<ListTotal> =>
  totalOfFlowResponses(db, workspaceId, toFilters(filters))

/** The answers of a form are one cell, as JSON: forms have different fields. */
export const exportForms = (db: Db, workspaceId: string, filters: FormFilters): AsyncIterable<string> =>
  exportNewestFirst({
    head: ['id', 'received_at', 'from', 'from_user_id', 'flow_id', 'flow_token', 'template_id', 'files', 'response'],
    rows: (page) => listForms(db, workspaceId, filters, page),
    positionOf: markOf,
    toLines(row) {
      const { id, received_at, from, from_user_id, flow_id, flow_token, template_id, files, response } = toConsoleForm(
        toFlowResponseWithFiles(row),
      )
      const answers = response && JSON.stringify(response)
      return [[id, received_at, from, from_user_id, flow_id, flow_token, template_id, files.length, answers]]
    },
  })

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
