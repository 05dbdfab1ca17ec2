import type { PageQuery, Template, TemplateFilters } from './contract.ts'
import { newPages, type Pages } from './pages.ts'
import { pathSegment } from './settings.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The templates of the workspace and their variables. Scope `templates:read`. */
export interface Templates {
  list(query?: PageQuery & TemplateFilters, options?: CallOptions): Pages<Template>
  get(id: string, options?: CallOptions): Promise<Template>
}

export function newTemplates({ get }: Transport): Templates {
  return {
    list: (query = {}, options) =>
      newPages((cursor) => get('/v1/templates', { ...query, ...(cursor && { cursor }) }, options)),
    get: async (id, options) => get(`/v1/templates/${pathSegment(id)}`, {}, options),
  }
}
