import { escapeHtml } from '../../lib/escape-html.ts'
import type { SearchResult } from './search.ts'

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
