import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { escapeHtml } from './escape-html.ts'
import type { Network } from './network.ts'

/** `/status`, a plain HTML overview, and `/readme`, the manual as text. */
export function statusRoutes(server: FastifyInstance, network: Network): void {
  server.get('/status', (_request, reply) => reply.type('text/html; charset=utf-8').send(statusPage(network)))
  server.get('/readme', (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(readFileSync(new URL('../README.md', import.meta.url))),
  )
}

function statusPage({ world, url, queue }: Network): string {
  const numbers = [...world.numbers.values()].map(
    (number) =>
      `<li><code>+${number.phoneNumber}</code> ${escapeHtml(number.verifiedName)}, ID <code>${number.id}</code>, ${escapeHtml(number.status)}</li>`,
  )
  const apps = [...world.apps.values()].map(
    (app) =>
      `<li>${escapeHtml(app.name)}, ID <code>${app.id}</code>, callback <code>${escapeHtml(app.callbackUrl ?? 'not set')}</code></li>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Simulated WhatsApp network</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:0 .2em}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8cf}code{background:#333}}</style></head><body>
<h1>Simulated WhatsApp network</h1>
<p>Graph API at <code>${escapeHtml(url)}/v25.0/…</code>, control API at <code>${escapeHtml(url)}/control/…</code>. Nothing here reaches a real phone. Open the <a href="/">handset</a> to use a simulated phone in your browser.</p>
<h2>Apps</h2><ul>${apps.join('') || '<li>None</li>'}</ul>
<h2>Business numbers</h2><ul>${numbers.join('') || '<li>None</li>'}</ul>
<h2>Totals</h2><p>${world.phones.size} phones, ${world.messages.size} messages, ${world.templates.size} templates, ${queue.size} webhook updates queued.</p>
<ul><li><a href="/readme">Manual</a></li><li><a href="/control/log">Network log (JSON)</a></li><li><a href="/control/phones">Phones (JSON)</a></li><li><a href="/control/switches">Switches (JSON)</a></li><li><a href="/control/events">Event stream</a></li></ul>
</body></html>`
}
