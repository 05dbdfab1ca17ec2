import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'

/** Nothing on the page may come from, or go to, another host. */
const policy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "frame-ancestors 'none'",
].join('; ')

/** The API reference, served by us alone: no fonts, telemetry, assistants or sharing of the page's maker. */
export async function mountReference(app: FastifyInstance): Promise<void> {
  app.addHook('onSend', async (_request, reply) => void reply.header('Content-Security-Policy', policy))
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
