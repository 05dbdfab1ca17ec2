import { escapeHtml } from '../../lib/escape-html.ts'
import { docsHeader } from '../docs-look.ts'
import { docsGroups } from './catalogue.ts'
import type { Heading } from './render.ts'

export interface PageParts {
  title: string
  /** The name of the page; null for pages that are not in the navigation. */
  name: string | null
  /** The body of the page. */
  html: string
  headings?: readonly Heading[]
  /** Whether there is a Markdown version. */
  hasMarkdown?: boolean
  /** What was searched for. */
  query?: string
  /** Addresses of the style sheet and the script. */
  assets: { style: string; script: string }
}

/** A page of the documentation: navigation, text, and a list of its sections. */
export function docsLayout({
  title,
  name,
  html,
  headings = [],
  hasMarkdown = false,
  query = '',
  assets,
}: PageParts): string {
  const markdown = hasMarkdown ? `<p class="source"><a href="/docs/${name}.md">This page as Markdown</a></p>` : ''
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)} · Parley</title>
    <link rel="stylesheet" href="${assets.style}">
    <script type="module" src="${assets.script}"></script>
    ${hasMarkdown ? `<link rel="alternate" type="text/markdown" href="/docs/${name}.md">` : ''}
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>${docsHeader(name === 'errors' ? '/docs/errors' : '/docs')}
    <div class="columns">
      <main id="content" tabindex="-1">
        <a class="to-menu" href="#menu">Search and all pages</a>
${html}${markdown}
      </main>
      ${tableOf(headings)}
      <div class="side" id="menu">
        <form class="search" role="search" action="/docs/search">
          <label for="search">Search the documentation</label>
          <input id="search" type="search" name="q" value="${escapeHtml(query)}" placeholder="Search" autocomplete="off" maxlength="100">
          <div class="results" aria-live="polite" hidden></div>
        </form>
        <nav aria-label="Documentation">${docsGroups.map((group) => groupOf(group, name)).join('')}
        </nav>
      </div>
    </div>
  </body>
</html>
`
}

function groupOf({ title, pages }: (typeof docsGroups)[number], current: string | null): string {
  const items = pages.map((page) => {
    const here = page.name === current ? ' aria-current="page"' : ''
    return `<li><a href="/docs/${page.name}"${here}>${escapeHtml(page.title)}</a></li>`
  })
  return `
          <h2>${escapeHtml(title)}</h2>
          <ul>${items.join('')}</ul>`
}

/** The sections of the page. */
function tableOf(headings: readonly Heading[]): string {
  const sections = headings.filter(({ depth }) => depth === 2)
  if (sections.length < 2) return ''
  const items = sections.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`
}

/** The first page: all others, with a line about each. */
export function indexHtml(): string {
  const groups = docsGroups.map(({ title, pages }) => {
    const items = pages.map(
      ({ name, title: page, summary }) =>
        `<li><a href="/docs/${name}">${escapeHtml(page)}</a><p>${escapeHtml(summary)}</p></li>`,
    )
    return `<h2>${escapeHtml(title)}</h2><ul class="cards">${items.join('')}</ul>`
  })
  return `<h1>Documentation</h1>
<p>Parley sends and receives WhatsApp messages: an API with scoped keys, signed webhooks, and a console. Begin with the
<a href="/docs/quickstart">quickstart</a>. Every page is also available as Markdown: add <code>.md</code> to its address.
<a href="/llms.txt">llms.txt</a> lists them for language models.</p>
${groups.join('\n')}`
}
