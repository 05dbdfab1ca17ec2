import { errorCatalogue } from '@parley/contract/errors'
import { fieldErrors } from '@parley/contract/field-errors'
import { escapeHtml } from '../lib/escape-html.ts'

/** The body of the page that the `doc_url` of every error links to. */
export function errorsBody(): string {
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
  return `
      <h1>Errors</h1>
      <p>Every failed request under <code>/v1</code> returns an error in the same format. In your code, check
      <code>error.code</code>: codes are stable. <code>error.message</code> is for people and may change.</p>
${entries.join('')}
    <section id="field-errors">
      <h2><a href="#field-errors">Field errors</a></h2>
      <p>An error with the code <code>validation_failed</code> lists every invalid field in <code>error.errors</code>.
      <code>param</code> is the field, and <code>code</code> is one of these. A code means the same on every endpoint.</p>
      <div class="table" role="region" tabindex="0" aria-label="Field errors"><table>${fields.join('')}
      </table></div>
    </section>`
}
