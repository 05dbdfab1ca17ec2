import { TemplateId } from '@parley/contract/ids'
import { List, pageQuery } from '@parley/contract/page'
import { Template, TemplateFilters } from '@parley/contract/template'
import { Type } from 'typebox'
import { pageOf, readPage } from '../../http/page.ts'
import { route } from '../../http/route.ts'
import { getTemplate, listTemplates, toTemplate } from './templates.ts'

export const templateRoutes = [
  route({
    method: 'GET',
    path: '/v1/templates',
    scope: 'templates:read',
    summary: 'List templates',
    description:
      'Newest first, each with the variables it needs. Only templates with the status `APPROVED` can be sent.',
    tag: 'Templates',
    query: Type.Object({ ...pageQuery, ...TemplateFilters.properties }, { additionalProperties: false }),
    reply: List(Template),
    handle: async ({ db, caller }, { query }) => {
      const page = readPage(query)
      const { rows, total } = await listTemplates(db, caller.workspaceId, query, page)
      return pageOf(page, rows, total, toTemplate)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/templates/:id',
    scope: 'templates:read',
    summary: 'Get a template',
    tag: 'Templates',
    params: Type.Object({ id: TemplateId }),
    reply: Template,
    handle: ({ db, caller }, { params }) => getTemplate(db, caller.workspaceId, params.id),
  }),
]
