import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Network } from './network.ts'

/** A plain page that says what is here, and the manual beside it. */
export function pageRoutes(server: FastifyInstance, network: Network): void {
  server.get('/status', (_request, reply) => reply.type('text/html; charset=utf-8').send(statusPage(network)))
  server.get('/readme', (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(readFileSync(new URL('../README.md', import.meta.url))),
  )
}

function statusPage({ world, url, queue }: Network): string {
  const numbers = [...world.numbers.values()].map(
    (number) =>
      `<li><code>+${number.phoneNumber}</code> ${escaped(number.verifiedName)}, id <code>${number.id}</code>, ${escaped(number.status)}</li>`,
  )
  const apps = [...world.apps.values()].map(
    (app) =>
      `<li>${escaped(app.name)}, id <code>${app.id}</code>, callback <code>${escaped(app.callbackUrl ?? 'not set')}</code></li>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pretend WhatsApp network</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:0 .2em}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8cf}code{background:#333}}</style></head><body>
<h1>Pretend WhatsApp network</h1>
<p>Graph API at <code>${escaped(url)}/v25.0/…</code>, control API at <code>${escaped(url)}/control/…</code>. Nothing here reaches a real phone. The <a href="/">handset</a> is a phone to hold in the browser.</p>
<h2>Apps</h2><ul>${apps.join('') || '<li>none</li>'}</ul>
<h2>Business numbers</h2><ul>${numbers.join('') || '<li>none</li>'}</ul>
<h2>So far</h2><p>${world.phones.size} phones, ${world.messages.size} messages, ${world.templates.size} templates, ${queue.size} webhook updates waiting to be taken.</p>
<ul><li><a href="/readme">The manual</a></li><li><a href="/control/log">What crossed the wire</a></li><li><a href="/control/phones">The phones</a></li><li><a href="/control/switches">The switches</a></li><li><a href="/control/events">Live events</a></li></ul>
</body></html>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
