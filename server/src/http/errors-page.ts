import { errorCatalogue } from '@parley/contract/errors'
import { fieldErrors } from '@parley/contract/field-errors'

/** The page that the `doc_url` of every error links to. */
export function errorsPage(): string {
  const entries = Object.entries(errorCatalogue).map(
    ([code, { status, type, title, cause, remedy }]) => `
    <section id="${code}">
      <h2><a href="#${code}"><code>${code}</code></a> <small>${status} · ${type}</small></h2>
      <p><strong>${title}.</strong> ${cause}</p>
      <p>${remedy}</p>
    </section>`,
  )
  const fields = Object.entries(fieldErrors).map(
    ([code, meaning]) => `
        <tr><td><code>${code}</code></td><td>${meaning}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Errors · Parley</title>
    <style>${style}</style>
  </head>
  <body>
    <main>
      <h1>Errors</h1>
      <p>Every failed request under <code>/v1</code> returns an error in the same format. In your code, check
      <code>error.code</code>: codes are stable. <code>error.message</code> is for people and may change.</p>
      <p><a href="/docs/api">API reference</a></p>${entries.join('')}
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
  :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
  main { max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; }
  h2 { margin-top: 2.5rem; font-size: 1.1rem; }
  h2 a { color: inherit; text-decoration: none; }
  small { font-weight: normal; opacity: .65; }
  td { padding: .3rem 1rem .3rem 0; vertical-align: top; }
  section:target { outline: 2px solid #2f9e6e; outline-offset: 1rem; border-radius: 2px; }
`
