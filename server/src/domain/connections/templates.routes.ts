import { NewTemplate, TemplateEdit } from '@parley/contract/console/template-draft'
import { ConsoleTemplate } from '@parley/contract/console/templates'
import { TemplateId } from '@parley/contract/ids'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Strict } from '../../http/console/shapes.ts'
import { createTemplate, deleteTemplate, editTemplate } from './change-templates.ts'
import type { Network } from './network.ts'

/** Make templates in the console. They call WhatsApp, so no transaction may be open. */
export const templateChangeRoutes = ({ network }: { network: Network }): ConsoleRoute[] => {
  const common = { who: 'templates:manage', ownTransactions: true } as const
  const params = Strict({ id: TemplateId })
  return [
    workspaceRoute({
      ...common,
      method: 'POST',
      path: '/templates',
      status: 201,
      body: NewTemplate,
      reply: ConsoleTemplate,
      handle: ({ workspaceId, audit }, { body }) => createTemplate(network, workspaceId, body, audit),
    }),
    workspaceRoute({
      ...common,
      method: 'PATCH',
      path: '/templates/:id',
      params,
      body: TemplateEdit,
      reply: ConsoleTemplate,
      handle: ({ workspaceId, audit }, { params: { id }, body }) =>
        editTemplate(network, { workspaceId, templateId: id }, body, audit),
    }),
    workspaceRoute({
      ...common,
      method: 'DELETE',
      path: '/templates/:id',
      params,
      handle: ({ workspaceId, audit }, { params: { id } }) =>
        deleteTemplate(network, { workspaceId, templateId: id }, audit),
    }),
  ]
}
