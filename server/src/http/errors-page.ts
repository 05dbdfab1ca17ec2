import { errorCatalogue } from '@parley/contract/errors'
import { fieldErrors } from '@parley/contract/field-errors'
import { escapeHtml } from '../lib/escape-html.ts'
import { docsHeader, docsStyle } from './docs-look.ts'

/** The page that the `doc_url` of every error links to. */
export function errorsPage(): string {
  const entries = Object.entries(errorCatalogue).map(
    ([code, { status, type, title, cause, remedy }]) => `
    <section id="${code}">
      <h2><a href="#${code}"><code>${code}</code></a> <small>${status} · ${type}</small></h2>
      <p><strong>${escapeHtml(title)}.</strong> ${escapeHtml(cause)}</p>
      <p>${escapeHtml(remedy)}</p>
    </section>`,
  )
  const fields = Object.entries(fieldErrors).map(
    ([code, meaning]) => `
        <tr><td><code>${code}</code></td><td>${escapeHtml(meaning)}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Errors · Parley</title>
    <style>${docsStyle}${style}</style>
  </head>
  <body>${docsHeader('/docs/errors')}
    <main>
      <h1>Errors</h1>
      <p>Every failed request under <code>/v1</code> returns an error in the same format. In your code, check
      <code>error.code</code>: codes are stable. <code>error.message</code> is for people and may change.</p>
${entries.join('')}
    <section id="field-errors">
      <h2><a href="#field-errors">Field errors</a></h2>
      <p>An error with the code <code>validation_failed</code> lists every invalid field in <code>error.errors</code>.
      <code>param</code> is the field, and <code>code</code> is one of these. A code means the same on every endpoint.</p>
      <table>${fields.join('')}
      </table>
    </section>
    </main>
  </body>
</html>
`
}

const style = `
  main { max-width: 46rem; margin: 2.5rem auto 4rem; padding: 0 1.25rem; }
  h1 { margin: 0 0 .75rem; font-size: 1.25rem; letter-spacing: -.01em; }
  h2 { margin: 0 0 .5rem; font-size: 1rem; }
  h2 a { color: inherit; text-decoration: none; }
  h2 a:hover { text-decoration: underline; }
  p { margin: .35rem 0; color: var(--ink-2); }
  strong { color: var(--ink); }
  code { font-family: "JetBrains Mono", ui-monospace, monospace; font-size: .92em; overflow-wrap: anywhere; }
  small { margin-left: .5rem; font-weight: normal; color: var(--ink-3); }
  section { margin-top: 1rem; padding: 1rem 1.25rem; background: var(--surface); border: 1px solid var(--line);
    border-radius: 11px; scroll-margin-top: 4.5rem; }
  section:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
  table { border-collapse: collapse; }
  td { padding: .4rem 1rem .4rem 0; vertical-align: top; color: var(--ink-2); border-top: 1px solid var(--line); }
`
