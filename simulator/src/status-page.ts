import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { escapeHtml } from './escape-html.ts'
import { headingId, markdownToHtml } from './markdown.ts'
import type { Network } from './network.ts'

/** The manual. A link from one file to a section of the other stays in the page. */
const manual = (): string =>
  ['README.md', 'control-api.md']
    .map((file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
    .join('\n')
    .replaceAll(/\]\([\w-]+\.md(?=#)/g, '](')

/** `/status`, a plain HTML overview, and the manual: `/manual` is a page, `/readme` its text. */
export function statusRoutes(server: FastifyInstance, network: Network): void {
  server.get('/status', (_request, reply) => reply.type('text/html; charset=utf-8').send(statusPage(network)))
  server.get('/readme', (_request, reply) => reply.type('text/plain; charset=utf-8').send(manual()))
  server.get('/manual', (_request, reply) =>
    reply.type('text/html; charset=utf-8').headers(manualHeaders).send(manualPage(manual())),
  )
}

/** No scripts, and only the style sheets of the handset. */
const manualHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

function manualPage(markdown: string): string {
  const contents = [...markdown.matchAll(/^## (.*)$/gm)].map(
    ([, title = '']) => `<li><a href="#${headingId(title)}">${escapeHtml(title)}</a></li>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Manual · Parley simulator</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="/handset/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/handset/base.css"><link rel="stylesheet" href="/handset/manual.css"></head><body>
<header class="manual-top"><a href="/"><img src="/handset/icon.svg" alt="" width="26" height="26"> Handset</a><a href="/status">Status</a><a href="/readme">As text</a></header>
<div class="manual"><nav aria-label="Contents"><ul>${contents.join('')}</ul></nav>
<main>${markdownToHtml(markdown)}</main></div></body></html>`
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
<ul><li><a href="/manual">Manual</a></li><li><a href="/control/log">Network log (JSON)</a></li><li><a href="/control/phones">Phones (JSON)</a></li><li><a href="/control/switches">Switches (JSON)</a></li><li><a href="/control/events">Event stream</a></li></ul>
</body></html>`
}
