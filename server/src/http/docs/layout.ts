import { escapeHtml } from '../../lib/escape-html.ts'
import { type DocsPage, docsGroups, docsPages, referencePages } from './catalogue.ts'
import type { Heading } from './render.ts'
import type { SearchResult } from './search.ts'

export interface PageParts {
  title: string
  /** For search engines and previews. */
  description?: string
  /** The name of the page, empty for the first one; null for pages that are not to be found or linked to. */
  name: string | null
  html: string
  headings?: readonly Heading[]
  query?: string
  publicUrl: string
  assets: { style: string; script: string; icon: string }
}

/** A page of the documentation: navigation, text, and a list of its sections. */
export function docsLayout({
  title,
  description = '',
  name,
  html,
  headings = [],
  query = '',
  publicUrl,
  assets,
}: PageParts): string {
  const path = `/docs${name && `/${name}`}`
  const source = name ? `<p class="source"><a href="${path}.md">This page as Markdown</a></p>` : ''
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escapeHtml(title)} · Parley docs</title>
    ${name === null ? '<meta name="robots" content="noindex">' : headOf(escapeHtml(publicUrl + path), path, description)}
    <link rel="icon" type="image/svg+xml" href="${assets.icon}">
    <link rel="stylesheet" href="${assets.style}">
    <script type="module" src="${assets.script}"></script>
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>${headerOf(name ?? '', query)}
    <div class="columns">
      ${tableOf(headings)}
      <main id="content" tabindex="-1">
        <a class="to-menu" href="#menu">All pages</a>
${html}${neighborsOf(name)}${source}
      </main>
      <nav class="side" id="menu" aria-label="Documentation">${docsGroups.map((group) => groupOf(group, name)).join('')}
      </nav>
    </div>
  </body>
</html>
`
}

const headOf = (url: string, path: string, description: string): string =>
  `<meta name="description" content="${escapeHtml(shorten(description))}">
    <link rel="canonical" href="${url}">
    <link rel="alternate" type="text/markdown" href="${path}.md">`

const descriptionMax = 160

const shorten = (text: string): string =>
  text.length <= descriptionMax ? text : `${text.slice(0, text.lastIndexOf(' ', descriptionMax - 2))} …`

const headerPages = { '/docs': 'Docs', '/docs/api': 'API reference', '/docs/errors': 'Errors' }

/** Leads back to the console. */
function headerOf(name: string, query: string): string {
  const area = `/docs/${referencePages.has(name) ? 'api' : name}`
  const current = area in headerPages ? area : '/docs'
  const links = Object.entries(headerPages).map(
    ([path, title]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`,
  )
  return `
    <header class="docs-header">
      <a class="home" href="/" aria-label="Parley console"><span class="name">Parley</span></a>${searchForm(query)}
      ${links.join('\n      ')}
      <a href="/">Back to the console</a>
    </header>`
}

const searchForm = (query: string): string => `
      <form class="search" role="search" action="/docs/search">
        <label for="search">Search the documentation</label>
        <input id="search" type="search" name="q" value="${escapeHtml(query)}" placeholder="Search" autocomplete="off" maxlength="100">
        <p class="status" role="status"></p>
        <div class="results" hidden></div>
      </form>`

function groupOf({ title, pages }: (typeof docsGroups)[number], current: string | null): string {
  const items = pages.map((page) => {
    const here = page.name === current ? ' aria-current="page"' : ''
    return `<li><a href="/docs/${page.name}"${here}>${escapeHtml(page.label ?? page.title)}</a></li>`
  })
  return `
        <h2>${escapeHtml(title)}</h2>
        <ul>${items.join('')}</ul>`
}

function tableOf(headings: readonly Heading[]): string {
  const sections = headings.filter(({ depth }) => depth === 2)
  if (sections.length === 0) return ''
  const items = sections.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return `<nav class="contents" aria-label="On this page"><details><summary>On this page</summary><ul>${items.join('')}</ul></details></nav>`
}

/** Links to the page before and after this one, in the order of the navigation. */
function neighborsOf(name: string | null): string {
  const at = docsPages.findIndex((page) => page.name === name)
  const isDecision = at < 0 && name?.startsWith('project/decisions/')
  const previous = isDecision ? docsPages.find((page) => page.name === 'project/decisions') : docsPages[at - 1]
  const next = at < 0 ? undefined : docsPages[at + 1]
  const linkTo = (page: DocsPage | undefined, rel: 'prev' | 'next', label: string) =>
    page ? `<a rel="${rel}" href="/docs/${page.name}"><small>${label}</small> ${escapeHtml(page.title)}</a>` : ''
  const links = linkTo(previous, 'prev', 'Previous') + linkTo(next, 'next', 'Next')
  return links && `<nav class="neighbors" aria-label="Previous and next page">${links}</nav>`
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
<a href="/docs/start/quickstart">quickstart</a>. Every page is also available as Markdown: add <code>.md</code> to its address.
<a href="/llms.txt">llms.txt</a> lists them for language models.</p>
${groups.join('\n')}`
}

/** The page of results, for readers without a script and for all results. */
export function resultsHtml(query: string, found: readonly SearchResult[]): string {
  const wanted = escapeHtml(query.trim())
  if (wanted === '') return '<h1>Search</h1><p>Enter what you are looking for.</p>'
  if (found.length === 0) {
    return `<h1>Search</h1><p>No results for “${wanted}”. Try another word, or look at <a href="/docs">all pages</a>.</p>`
  }
  return `<h1>Search</h1><p>Results for “${wanted}”</p>${listOf(found)}`
}

/** For an address that is no page: where the reader may have wanted to go. */
export function notFoundHtml(path: string, found: readonly SearchResult[]): string {
  const nearest = found.length > 0 ? `<h2>Did you mean</h2>${listOf(found)}` : ''
  return `<h1>Page not found</h1>
<p>There is no page at <code>${escapeHtml(path)}</code>. Search the documentation, or look at <a href="/docs">all pages</a>.</p>${nearest}`
}

function listOf(found: readonly SearchResult[]): string {
  const items = found.map(({ href, title, heading, excerpt }) => {
    const name = heading === '' ? title : `${title}: ${heading}`
    return `<li><a href="${escapeHtml(href)}">${escapeHtml(name)}</a><p>${escapeHtml(excerpt)}</p></li>`
  })
  return `<ul class="found">${items.join('')}</ul>`
}
