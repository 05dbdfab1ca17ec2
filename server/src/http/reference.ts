import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { pageHeaders } from './page-headers.ts'

/** Nothing on the page may come from, or go to, another host. */
const headers = pageHeaders({
  'default-src': "'self'",
  'script-src': "'self' 'unsafe-inline'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self' data:",
})

/** A library in the page's script tries out whether it may compile code, which its policy forbids and reports; told not to, it does not. */
const calm = '<script>globalThis.__zod_globalConfig = { jitless: true }</script>'

/** The API reference, served by us alone: no fonts, telemetry, assistants or sharing of the page's maker. */
export async function mountReference(app: FastifyInstance): Promise<void> {
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.headers(headers)
    return typeof payload === 'string' ? payload.replace('<head>', `<head>${calm}`) : payload
  })
  await app.register(scalar, {
    routePrefix: '/docs/api',
    configuration: {
      url: '/v1/openapi.json',
      title: 'Parley API',
      withDefaultFonts: false,
      telemetry: false,
      showDeveloperTools: 'never',
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
}
