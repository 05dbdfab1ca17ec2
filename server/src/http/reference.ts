import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { pageHeaders } from './page-headers.ts'

/** The page may not load from or connect to another host. */
const headers = pageHeaders({
  'default-src': "'self'",
  'script-src': "'self' 'unsafe-inline'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self' data:",
})

/**
 * Turns off runtime compilation in Zod. Its test for `eval` would violate the page's policy and be reported as an
 * error.
 */
const zodConfig = '<script>globalThis.__zod_globalConfig = { jitless: true }</script>'

/** The API reference, self-hosted: without Scalar's fonts, telemetry, AI assistant and sharing. */
export async function mountReference(app: FastifyInstance): Promise<void> {
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.headers(headers)
    return typeof payload === 'string' ? payload.replace('<head>', `<head>${zodConfig}`) : payload
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
